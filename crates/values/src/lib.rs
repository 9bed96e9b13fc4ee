#![doc = include_str!("../README.md")]

pub mod abbreviation;
pub mod arn;
pub mod calendar;
pub mod cron;
pub mod cropping;
pub mod duration;
pub mod kubelet_expression;
pub mod naming;
pub mod placeholder;
pub mod quantity;
pub mod spelling;
pub mod timestamp;
