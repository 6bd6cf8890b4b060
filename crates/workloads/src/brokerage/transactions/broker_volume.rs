//! Broker-volume: what pending orders for securities of a sector are worth, by broker.

use super::super::inputs::{BROKERS_MAX, BrokerVolume};
use super::super::people::{FULL_NAME_MAX, Person};
use super::super::settings::BrokerageSettings;
use super::super::statements::BrokerageStatement;
use super::super::tally::{BrokerageCounter, count_if};
use crate::effects::Tally;
use crate::random::Letters;
use crate::requests::Requests;
use engines::session::{Access, Param, Session, SessionError};

pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    input: &BrokerVolume,
    settings: &BrokerageSettings,
    tally: &mut Tally,
) -> Result<(), SessionError> {
    let brokers = input.brokers();
    let names: [Letters<FULL_NAME_MAX>; BROKERS_MAX] = std::array::from_fn(|place| {
        Person::of_broker(settings.data_seed, brokers[place.min(brokers.len() - 1)]).full_name()
    });
    let mut params = [Param::Text(input.sector); 1 + BROKERS_MAX];
    for (param, name) in params[1..].iter_mut().zip(&names) {
        *param = Param::Text(name.as_str());
    }
    requests.begin(Access::ReadOnly);
    let volume = requests.add(BrokerageStatement::BrokerVolume, &params);
    let found = requests
        .finish(session, |requests| {
            let volumes = requests.answer(volume);
            for row in 0..volumes.rows() {
                volumes.text(row, 0)?;
                volumes.integer(row, 1)?;
            }
            Ok(volumes.rows())
        })
        .await?;
    count_if(tally, BrokerageCounter::Error111, found > BROKERS_MAX);
    Ok(())
}
