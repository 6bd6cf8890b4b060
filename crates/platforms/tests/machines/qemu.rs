//! The QEMU platform, with emulated guests: they boot everywhere.

use crate::place::{Place, facts, has_qemu, image, known, shut_down};
use images::Flavour;
use serde_json::json;

#[test]
fn a_guest_boots() {
    let (true, Some(micro)) = (has_qemu(), image("micro", Flavour::Cloud)) else { return };
    let place = Place::new(micro);
    let mut machine = place.start("qemu", &json!({ "accelerator": "tcg" }));
    let inside = facts(machine.as_mut());
    println!("{inside:#?}");
    shut_down(machine);
}
