//! Clusters that fight.

family! {}
