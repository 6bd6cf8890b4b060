//! The native platform.

use crate::place::{Place, facts, image, known, shut_down};
use images::Flavour;
use serde_json::json;

#[test]
fn a_native_machine_has_its_data_and_its_limits() {
    let Some(micro) = image("micro", Flavour::Cloud) else { return };
    let place = Place::new(micro);
    let mut machine = place.start("native", &json!({}));
    assert_eq!(machine.data(), "/data");
    let inside = facts(machine.as_mut());
    println!("{inside:#?}");
    shut_down(machine);
}
