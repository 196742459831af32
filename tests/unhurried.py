"""Property tests without a deadline: on a busy machine the time of an example says nothing."""

from hypothesis import HealthCheck, settings

usual = settings.get_profile(settings.get_current_profile_name())
settings.register_profile(
    "unhurried",
    usual,
    deadline=None,
    suppress_health_check=[*usual.suppress_health_check, HealthCheck.too_slow],
)
settings.load_profile("unhurried")
