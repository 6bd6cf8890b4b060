//! Drives any workload against any engine, or rehearses it against none. It picks the concrete types once; after that,
//! code compiled for those types runs.

use crate::drive::drive;
use crate::error::DriveError;
use crate::plan::{Control, DrivePlan, Driven, SeenProgress};
use crate::virtual_time::{self, ServiceTimes};
use engines::catalog::{ConnectVisitor, connect};
use engines::server::Endpoint;
use engines::session::Connect;
use record::trial::Metric;
use workloads::catalog::{AnyOf, WorkloadVisitor};
use workloads::receipts::WithReceipts;
use workloads::workload::Workload;

/// Like [`drive`], but also fills in the name of the workload's throughput figure.
pub fn drive_endpoint(
    workload: &impl AnyOf,
    endpoint: &Endpoint,
    plan: &DrivePlan,
    control: &Control,
    see: &mut dyn FnMut(SeenProgress),
) -> Result<Driven, DriveError> {
    let driven = workload.visit(OverEndpoint { endpoint, plan, control, see })?;
    Ok(with_figure(driven, workload))
}

/// Rehearses the driving on a virtual clock: transactions take the times of `service` instead of being executed. The
/// result is like that of [`drive_endpoint`], but the database's work is not counted and no CPU time is used.
pub fn rehearse(
    workload: &impl AnyOf,
    plan: &DrivePlan,
    service: &ServiceTimes,
    control: &Control,
    see: &mut dyn FnMut(SeenProgress),
) -> Result<Driven, DriveError> {
    let driven = workload.visit(Rehearsal { service, plan, control, see })?;
    Ok(with_figure(driven, workload))
}

/// Adds the name of the workload's throughput figure, which only this module knows.
fn with_figure(mut driven: Driven, workload: &impl AnyOf) -> Driven {
    let figure = workload.metric();
    driven.facts.metric = Metric {
        name: figure.name.to_owned(),
        unit: figure.unit.to_owned(),
        per_ms: figure.per_ms,
        counted: driven.facts.metric.counted,
    };
    driven
}

/// Rehearses a workload of any type.
struct Rehearsal<'a> {
    service: &'a ServiceTimes,
    plan: &'a DrivePlan,
    control: &'a Control,
    see: &'a mut dyn FnMut(SeenProgress),
}

impl WorkloadVisitor for Rehearsal<'_> {
    type Answer = Result<Driven, DriveError>;

    fn visit<W: Workload>(self, workload: &W) -> Self::Answer {
        virtual_time::rehearse(workload, self.plan, self.service, self.control, self.see)
    }
}

/// Drives a workload of any type.
struct OverEndpoint<'a> {
    endpoint: &'a Endpoint,
    plan: &'a DrivePlan,
    control: &'a Control,
    see: &'a mut dyn FnMut(SeenProgress),
}

impl WorkloadVisitor for OverEndpoint<'_> {
    type Answer = Result<Driven, DriveError>;

    fn visit<W: Workload>(self, workload: &W) -> Self::Answer {
        let dialect = self.endpoint.dialect();
        let workload = &WithReceipts::new(workload, dialect, self.plan.receipts.first());
        let endpoint = self.endpoint.clone().for_sql(W::OWN_SQL);
        connect(&endpoint, workload.statements(dialect), OverSessions { workload, rest: self })
    }
}

/// Drives this workload over sessions of any type.
struct OverSessions<'w, 'a, W> {
    workload: &'w W,
    rest: OverEndpoint<'a>,
}

impl<W: Workload> ConnectVisitor for OverSessions<'_, '_, W> {
    type Answer = Result<Driven, DriveError>;

    fn visit<C: Connect + Sync>(self, connect: &C) -> Self::Answer {
        let OverEndpoint { plan, control, see, .. } = self.rest;
        drive(self.workload, connect, plan, control, see)
    }
}
