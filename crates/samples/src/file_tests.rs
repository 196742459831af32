//! Files of samples.
