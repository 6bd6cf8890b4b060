//! The devices of a machine, as the server describes them, and how to ask for others. Pure.

use super::answer::Object;
use super::node::Node;
use super::request::{Reference, Xml};
use super::settings::{DiskMode, Nic, Provisioning, ScsiAdapter};

/// Keys of devices that do not exist yet are negative and ours to choose.
const NEW_CONTROLLER: i32 = -101;
const NEW_NIC: i32 = -201;
/// The controller itself has this number on its own bus.
const SCSI_OWN_UNIT: i32 = 7;
const MOST_UNITS: i32 = 64;
/// Buses of each family of adapters.
const BUSES: i32 = 4;

/// What a network card is connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    Standard { name: String, reference: Option<Reference> },
    Distributed { switch: String, group: String },
}

impl Network {
    fn of_backing(backing: &Node) -> Option<Self> {
        if let Some(name) = backing.text_at("deviceName") {
            let reference = backing.reference_at("network");
            return Some(Self::Standard { name: name.to_owned(), reference });
        }
        let switch = backing.text_at("port.switchUuid")?.to_owned();
        Some(Self::Distributed { switch, group: backing.text_at("port.portgroupKey")?.to_owned() })
    }

    fn backing(&self, device: Xml) -> Xml {
        match self {
            Self::Standard { name, reference } => {
                let inner = Xml::new().text("deviceName", name).reference_if("network", reference.as_ref());
                device.typed("backing", "VirtualEthernetCardNetworkBackingInfo", &inner)
            }
            Self::Distributed { switch, group } => {
                let port = Xml::new().text("switchUuid", switch).text("portgroupKey", group);
                let inner = Xml::new().within("port", &port);
                device.typed("backing", "VirtualEthernetCardDistributedVirtualPortBackingInfo", &inner)
            }
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Standard { name: one, .. }, Self::Standard { name: other, .. }) => one == other,
            _ => self == other,
        }
    }
}

/// The disk with the data: the machine's last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastDisk {
    pub key: i32,
    pub mode: String,
    pub file: String,
    pub datastore: Option<Reference>,
    capacity_kib: u64,
    controller: i32,
    unit: i32,
    is_thin: bool,
    is_zeroed: bool,
    /// How many disks it hangs on.
    pub parents: usize,
    pub adapter: Option<ScsiAdapter>,
    /// The server's word for the adapter.
    pub controller_kind: String,
}

fn devices(config: &Node) -> impl Iterator<Item = &Node> {
    config.child("hardware").into_iter().flat_map(|hardware| hardware.all("device"))
}

pub fn key(device: &Node) -> Option<i32> {
    device.number_at("key")
}

fn disk(config: &Node, device: &Node) -> Option<LastDisk> {
    let (key, backing) = (key(device)?, device.child("backing")?);
    let controller: i32 = device.number_at("controllerKey")?;
    let of_controller = devices(config).find(|device| self::key(device) == Some(controller));
    let controller_kind = of_controller.and_then(|device| device.kind.clone()).unwrap_or_default();
    let parents = std::iter::successors(backing.child("parent"), |parent| parent.child("parent")).count();
    Some(LastDisk {
        key,
        mode: backing.text_at("diskMode").unwrap_or_default().to_owned(),
        file: backing.text_at("fileName").unwrap_or_default().to_owned(),
        datastore: backing.reference_at("datastore"),
        capacity_kib: device.number_at("capacityInKB").unwrap_or_default(),
        controller,
        unit: device.number_at("unitNumber").unwrap_or_default(),
        is_thin: backing.is_true_at("thinProvisioned"),
        is_zeroed: backing.is_true_at("eagerlyScrub"),
        parents,
        adapter: ScsiAdapter::of_kind(&controller_kind),
        controller_kind,
    })
}

/// All disks, in the server's order.
pub fn disks(config: &Node) -> Vec<LastDisk> {
    let mut found: Vec<LastDisk> = devices(config)
        .filter(|device| device.is_kind("VirtualDisk"))
        .filter_map(|device| disk(config, device))
        .collect();
    found.sort_by_key(|disk| disk.key);
    found
}

pub fn data_disk(config: &Node) -> Option<LastDisk> {
    disks(config).pop()
}

impl LastDisk {
    pub fn provisioning(&self) -> Provisioning {
        match (self.is_thin, self.is_zeroed) {
            (true, _) => Provisioning::Thin,
            (false, true) => Provisioning::Eager,
            (false, false) => Provisioning::Lazy,
        }
    }

    /// In words, for the record.
    pub fn described(&self) -> String {
        let adapter = match self.adapter {
            Some(adapter) => adapter.name(),
            None => &self.controller_kind,
        };
        let kept = self.provisioning().name();
        let chain = match self.parents {
            0 => String::new(),
            1 => ", hanging on another disk".to_owned(),
            several => format!(", hanging on a chain of {several} disks"),
        };
        format!("{adapter}, {}, {kept}{chain}, {}", self.mode, self.file)
    }
}

/// The first network card: its type and what it is connected to.
pub fn card(config: &Node) -> Option<(String, Option<Network>)> {
    let card = card_device(config)?;
    Some((card.kind.clone()?, card.child("backing").and_then(Network::of_backing)))
}

fn card_device(config: &Node) -> Option<&Node> {
    devices(config).find(|device| device.child("macAddress").is_some())
}

fn change(operation: &str, kind: &str, device: &Xml) -> Xml {
    let change = Xml::new().text("operation", operation).typed("device", kind, device);
    Xml::new().typed("deviceChange", "VirtualDeviceConfigSpec", &change)
}

/// The changes that give the data disk this adapter and mode.
pub fn data_disk_changes(config: &Node, adapter: Option<ScsiAdapter>, mode: Option<DiskMode>) -> Result<Xml, String> {
    let Some(disk) = data_disk(config) else { return Err("it has no disk".to_owned()) };
    let moved = adapter.filter(|adapter| disk.adapter != Some(*adapter));
    let mode = mode.map(DiskMode::name).filter(|mode| *mode != disk.mode);
    if moved.is_none() && mode.is_none() {
        return Ok(Xml::new());
    }
    let (added, controller, unit) = match moved {
        None => (Xml::new(), disk.controller, disk.unit),
        Some(adapter) => place(config, adapter)?,
    };
    let backing = Xml::new()
        .text("fileName", &disk.file)
        .reference_if("datastore", disk.datastore.as_ref())
        .text("diskMode", mode.unwrap_or(&disk.mode))
        .text("thinProvisioned", disk.is_thin);
    let device = Xml::new()
        .text("key", disk.key)
        .typed("backing", "VirtualDiskFlatVer2BackingInfo", &backing)
        .text("controllerKey", controller)
        .text("unitNumber", unit)
        .text("capacityInKB", disk.capacity_kib);
    Ok(added.and(&change("edit", "VirtualDisk", &device)))
}

/// A free place on an adapter of this kind, which is added if there is none.
fn place(config: &Node, adapter: ScsiAdapter) -> Result<(Xml, i32, i32), String> {
    if let Some(controller) = devices(config).find(|device| device.is_kind(adapter.kind())).and_then(key) {
        let on_it = devices(config).filter(|device| device.number_at::<i32>("controllerKey") == Some(controller));
        let taken: Vec<i32> = on_it.filter_map(|device| device.number_at("unitNumber")).collect();
        let is_free = |unit: &i32| !(taken.contains(unit) || adapter.is_scsi() && *unit == SCSI_OWN_UNIT);
        let unit = (0..MOST_UNITS).find(is_free).ok_or_else(|| format!("its {} is full", adapter.name()))?;
        return Ok((Xml::new(), controller, unit));
    }
    let family = |kind: &str| {
        let other = ScsiAdapter::of_kind(kind);
        other.is_some_and(|other| other == adapter || other.is_scsi() && adapter.is_scsi())
    };
    let same = devices(config).filter(|device| device.kind.as_deref().is_some_and(family));
    let taken: Vec<i32> = same.filter_map(|device| device.number_at("busNumber")).collect();
    let bus = (0..BUSES).find(|bus| !taken.contains(bus));
    let bus = bus.ok_or_else(|| format!("it has no room for a further adapter, of the kind {}", adapter.name()))?;
    let device = Xml::new().text("key", NEW_CONTROLLER).text("busNumber", bus);
    let device = if adapter.is_scsi() { device.text("sharedBus", "noSharing") } else { device };
    Ok((change("add", adapter.kind(), &device), NEW_CONTROLLER, 0))
}

/// The changes that give the first network card this type and connection.
pub fn card_changes(config: &Node, nic: Option<Nic>, network: Option<&Network>) -> Result<Xml, String> {
    let (Some(card), Some((kind, connected))) = (card_device(config), card(config)) else {
        return Err("it has no network card".to_owned());
    };
    let wanted_kind = match nic {
        Some(nic) => nic.kind(),
        None => &kind,
    };
    let is_connected = network.is_none_or(|network| connected.as_ref().is_some_and(|found| found.is_same(network)));
    if wanted_kind == kind && is_connected {
        return Ok(Xml::new());
    }
    let network = network.or(connected.as_ref()).ok_or("its network card is connected to nothing that can be kept")?;
    let key = key(card).ok_or("its network card has no key")?;
    let connectable = Xml::new().text("startConnected", true).text("allowGuestControl", true).text("connected", true);
    let device = |key: i32| network.backing(Xml::new().text("key", key)).within("connectable", &connectable);
    if wanted_kind == kind {
        return Ok(change("edit", &kind, &device(key).text("addressType", "generated")));
    }
    // The type of a card cannot be changed.
    let removed = change("remove", &kind, &Xml::new().text("key", key));
    Ok(removed.and(&change("add", wanted_kind, &device(NEW_NIC).text("addressType", "generated"))))
}

/// Whether the first card has this type and connection.
pub fn is_card(config: &Node, nic: Option<Nic>, network: Option<&Network>) -> bool {
    card(config).is_some_and(|(kind, found)| {
        nic.is_none_or(|nic| nic.kind() == kind)
            && network.is_none_or(|network| found.is_some_and(|found| found.is_same(network)))
    })
}

/// What a network card would be connected to, from the network's properties.
pub fn network(found: &Object, switch: Option<&str>) -> Network {
    match (switch, found.text("key")) {
        (Some(switch), Some(group)) => Network::Distributed { switch: switch.to_owned(), group: group.to_owned() },
        _ => Network::Standard { name: found.name(), reference: Some(found.reference.clone()) },
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::parse;
    use super::*;

    const DEVICES: &str = "<hardware>\
        <device xsi:type=\"VirtualLsiLogicController\"><key>1000</key><busNumber>0</busNumber></device>\
        <device xsi:type=\"VirtualDisk\"><key>2000</key><backing xsi:type=\"VirtualDiskFlatVer2BackingInfo\">\
        <fileName>[d] a/a.vmdk</fileName><diskMode>persistent</diskMode></backing>\
        <controllerKey>1000</controllerKey><unitNumber>0</unitNumber></device>\
        <device xsi:type=\"VirtualDisk\"><key>2001</key><backing xsi:type=\"VirtualDiskFlatVer2BackingInfo\">\
        <fileName>[d] a/b.vmdk</fileName><datastore type=\"Datastore\">ds-1</datastore><diskMode>persistent</diskMode>\
        <thinProvisioned>false</thinProvisioned><eagerlyScrub>true</eagerlyScrub><parent><fileName>x</fileName></parent></backing>\
        <controllerKey>1000</controllerKey><unitNumber>1</unitNumber><capacityInKB>4096</capacityInKB></device>\
        <device xsi:type=\"VirtualE1000\"><key>4000</key><backing xsi:type=\"VirtualEthernetCardNetworkBackingInfo\">\
        <deviceName>VM Network</deviceName></backing><macAddress>00:50:56:00:00:01</macAddress></device></hardware>";

    fn config() -> Node {
        let text = format!(
            "<E xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><Body><config>{DEVICES}</config></Body></E>"
        );
        parse(&text).unwrap()
    }

    #[test]
    fn the_data_disk_is_the_last_one() {
        let disk = data_disk(&config()).unwrap();
        assert_eq!(disk.key, 2001);
        assert_eq!(disk.described(), "lsilogic, persistent, eager_zeroed, hanging on another disk, [d] a/b.vmdk");
        assert_eq!(data_disk(&Node::default()), None);
    }

    #[test]
    fn what_is_already_so_is_not_changed() {
        let same = data_disk_changes(&config(), Some(ScsiAdapter::Lsilogic), Some(DiskMode::Persistent)).unwrap();
        assert!(same.is_empty());
        let network = Network::Standard { name: "VM Network".to_owned(), reference: None };
        assert!(card_changes(&config(), None, Some(&network)).unwrap().is_empty());
        assert!(data_disk_changes(&Node::default(), None, None).is_err());
        assert!(card_changes(&Node::default(), None, None).is_err());
    }

    #[test]
    fn a_disk_moves_to_an_adapter_that_is_added() {
        let moved = data_disk_changes(&config(), Some(ScsiAdapter::Pvscsi), Some(DiskMode::Independent)).unwrap();
        insta::assert_snapshot!(moved.lines(), @r#"
        <deviceChange xsi:type="VirtualDeviceConfigSpec">
        <operation>add</operation>
        <device xsi:type="ParaVirtualSCSIController">
        <key>-101</key>
        <busNumber>1</busNumber>
        <sharedBus>noSharing</sharedBus>
        </device>
        </deviceChange>
        <deviceChange xsi:type="VirtualDeviceConfigSpec">
        <operation>edit</operation>
        <device xsi:type="VirtualDisk">
        <key>2001</key>
        <backing xsi:type="VirtualDiskFlatVer2BackingInfo">
        <fileName>[d] a/b.vmdk</fileName>
        <datastore type="Datastore">ds-1</datastore>
        <diskMode>independent_persistent</diskMode>
        <thinProvisioned>false</thinProvisioned>
        </backing>
        <controllerKey>-101</controllerKey>
        <unitNumber>0</unitNumber>
        <capacityInKB>4096</capacityInKB>
        </device>
        </deviceChange>
        "#);
    }

    #[test]
    fn a_card_of_another_type_replaces_the_first() {
        let replaced = card_changes(&config(), Some(Nic::Vmxnet3), None).unwrap();
        insta::assert_snapshot!(replaced.lines(), @r#"
        <deviceChange xsi:type="VirtualDeviceConfigSpec">
        <operation>remove</operation>
        <device xsi:type="VirtualE1000">
        <key>4000</key>
        </device>
        </deviceChange>
        <deviceChange xsi:type="VirtualDeviceConfigSpec">
        <operation>add</operation>
        <device xsi:type="VirtualVmxnet3">
        <key>-201</key>
        <backing xsi:type="VirtualEthernetCardNetworkBackingInfo">
        <deviceName>VM Network</deviceName>
        </backing>
        <connectable>
        <startConnected>true</startConnected>
        <allowGuestControl>true</allowGuestControl>
        <connected>true</connected>
        </connectable>
        <addressType>generated</addressType>
        </device>
        </deviceChange>
        "#);
        let network = Network::Distributed { switch: "50 1e".to_owned(), group: "dvportgroup-7".to_owned() };
        let edited = card_changes(&config(), None, Some(&network)).unwrap();
        insta::assert_snapshot!(edited.lines(), @r#"
        <deviceChange xsi:type="VirtualDeviceConfigSpec">
        <operation>edit</operation>
        <device xsi:type="VirtualE1000">
        <key>4000</key>
        <backing xsi:type="VirtualEthernetCardDistributedVirtualPortBackingInfo">
        <port>
        <switchUuid>50 1e</switchUuid>
        <portgroupKey>dvportgroup-7</portgroupKey>
        </port>
        </backing>
        <connectable>
        <startConnected>true</startConnected>
        <allowGuestControl>true</allowGuestControl>
        <connected>true</connected>
        </connectable>
        <addressType>generated</addressType>
        </device>
        </deviceChange>
        "#);
    }
}
