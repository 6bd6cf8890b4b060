//! Tests of the study file as its users see it: text in, plan or problems out.

mod ablation;
mod exception_workload;
mod fixture;
mod only;
mod own_phases;
mod own_transactions;
mod plans;
mod problems;
mod properties;
mod reference;
mod several_hosts;
mod side_by_side;
mod studies;
