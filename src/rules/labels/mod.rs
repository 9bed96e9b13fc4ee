//! Labels that stop nodes.

family! {}
