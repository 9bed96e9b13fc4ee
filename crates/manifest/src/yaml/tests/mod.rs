mod corners;
mod granit;
mod suite;
