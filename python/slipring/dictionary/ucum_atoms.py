"""The symbols of UCUM that are used in practice: prefixes, units that take them, and the others.

Case matters: `mPa` and `MPa` differ by nine decimal places.
"""

# ruff: noqa: SIM905 (a table of hundred words reads better without quotes)

PREFIXES = frozenset("Q R Y Z E P T G M k h da d c m u n p f a z y r q Ki Mi Gi Ti".split())

METRIC = frozenset(
    (
        # the base units, and those of the SI that have a name
        "m s g rad K C cd mol sr Hz N Pa J W A V F Ohm S Wb Cel T H lm lx Bq Gy Sv kat "
        # beside the SI
        "l L ar t bar u eV pc eq osm cal cal_IT cal_th U [iU] [ly] gf tex mho "
        # natural constants
        "[c] [h] [k] [eps_0] [mu_0] [e] [m_e] [m_p] [G] [g] "
        # from before the SI
        "Ky Gal dyn erg P Bi St Mx G Oe Gb sb Lmb ph Ci R RAD REM st "
        # columns of a liquid, levels, information
        "m[H2O] m[Hg] Np B B[SPL] B[V] B[mV] B[uV] B[10.nV] B[W] B[kW] bit By Bd"
    ).split()
)
"""Units that may have a prefix."""

PLAIN = frozenset(
    (
        # numbers
        "10* 10^ [pi] % [ppth] [ppm] [ppb] [pptr] "
        # angles and times
        "gon deg ' '' circ sph min h d wk mo mo_s mo_j mo_g a a_t a_j a_g "
        # lengths, areas, volumes, speeds
        "AU Ao b [in_i] [ft_i] [yd_i] [mi_i] [fth_i] [nmi_i] [kn_i] [mil_i] [sin_i] [sft_i] "
        "[syd_i] [cin_i] [cft_i] [cyd_i] [ft_us] [yd_us] [mi_us] [in_us] [acr_us] [nmi_br] "
        "[kn_br] [gal_us] [qt_us] [pt_us] [gil_us] [foz_us] [cup_us] [tbs_us] [tsp_us] [bbl_us] "
        "[bu_us] [gal_br] [qt_br] [pt_br] [foz_br] "
        # masses and forces
        "[gr] [lb_av] [oz_av] [dr_av] [ston_av] [lton_av] [stone_av] [lb_tr] [oz_tr] [lbf_av] "
        "[car_m] [den] "
        # pressures, temperatures, energies, powers, others
        "atm [psi] att [in_i'H2O] [in_i'Hg] [degF] [degR] [degRe] [Cal] [Btu] [Btu_IT] [Btu_th] "
        "[Btu_39] [HP] [pH] [diop] %[slope] bit_s [m/s2/Hz^0.5]"
    ).split()
)
"""Units that stand alone."""
