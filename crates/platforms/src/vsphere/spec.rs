//! What a machine is set to before it is powered on, and what the server then says of it. Pure.

use super::devices::{self, Network};
use super::node::Node;
use super::request::Xml;
use super::settings::{OURS, Reservation, VsphereSettings};
use crate::placement::cpu_list;
use machines::machine::Decisions;
const MIB: u64 = 1 << 20;
/// No limit.
const UNLIMITED: i64 = -1;

/// What is wanted of one machine.
#[derive(Debug, Clone, Copy)]
pub struct WantedMachine<'a> {
    pub settings: &'a VsphereSettings,
    pub vcpus: u32,
    pub memory_bytes: u64,
    /// The clock rate of the host that it is on.
    pub host_mhz: u64,
    /// The share of its vCPUs' time that it may use.
    pub cpu_quota: Option<f64>,
    pub network: Option<&'a Network>,
    /// Whether it is the copy of a trial. The machine that data are loaded in keeps the template's hardware: a study's shape is none
    /// for loading, and what is reserved for a trial must not be reserved for both.
    pub is_copy: bool,
    /// The words for the agent inside.
    pub words: &'a [(&'a str, &'a str)],
}

impl WantedMachine<'_> {
    fn memory_mib(&self) -> u64 {
        self.memory_bytes / MIB
    }

    fn all_mhz(&self) -> u64 {
        u64::from(self.vcpus) * self.host_mhz
    }

    fn reserved_mhz(&self) -> u64 {
        if self.settings.cpu_reservation == Reservation::All { self.all_mhz() } else { 0 }
    }

    fn reserved_mib(&self) -> u64 {
        if self.settings.memory_reservation == Reservation::All { self.memory_mib() } else { 0 }
    }

    fn limit_mhz(&self) -> i64 {
        let share = |quota: f64| (quota * self.all_mhz() as f64).round();
        // A rate of a processor fits.
        #[allow(clippy::cast_possible_truncation)]
        self.cpu_quota.map_or(UNLIMITED, |quota| share(quota) as i64)
    }

    fn affinity(&self) -> Vec<usize> {
        self.settings.affinity().unwrap_or_default()
    }

    fn extra_config(&self) -> Vec<(String, String)> {
        let ours = self.words.iter().map(|(name, value)| (format!("{OURS}{name}"), (*value).to_owned()));
        let theirs = self.settings.extra_config();
        let theirs = theirs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        ours.chain(theirs).collect()
    }

    /// The change of a machine that is set as in `config`.
    pub fn spec(&self, config: &Node) -> Result<Xml, String> {
        let settings = self.settings;
        let mode = settings.disk_mode.filter(|_| self.is_copy);
        let changes = devices::data_disk_changes(config, settings.adapter, mode)?;
        let changes = changes.and(&devices::card_changes(config, settings.nic, self.network)?);
        let option = |(name, value): &(String, String)| Xml::new().text("key", name).string("value", value);
        let spec = if self.is_copy { self.hardware(config, &changes) } else { changes };
        let spec =
            self.extra_config().iter().fold(spec, |spec, pair| spec.typed("extraConfig", "OptionValue", &option(pair)));
        let locked = settings.memory_reservation == Reservation::All;
        Ok(if self.is_copy { spec.text("memoryReservationLockedToMax", locked) } else { spec })
    }

    /// Processors and memory, with the changes of devices in their place between them.
    fn hardware(&self, config: &Node, changes: &Xml) -> Xml {
        let settings = self.settings;
        let cpu = Xml::new().text("reservation", self.reserved_mhz()).text("limit", self.limit_mhz());
        let memory = Xml::new().text("reservation", self.reserved_mib()).text("limit", UNLIMITED);
        let spec = Xml::new()
            .text("numCPUs", self.vcpus)
            .text("numCoresPerSocket", settings.cores_per_socket)
            .text("memoryMB", self.memory_mib())
            .and(changes)
            .within("cpuAllocation", &cpu)
            .within("memoryAllocation", &memory)
            .within("latencySensitivity", &Xml::new().text("level", settings.latency_sensitivity.name()));
        let affinity = self.affinity();
        // A cluster may refuse even an empty list where there was none.
        let is_pinned = !affinity.is_empty() || config.at("cpuAffinity.affinitySet").is_some();
        let set = affinity.iter().fold(Xml::new(), |set, cpu| set.text("affinitySet", cpu));
        if is_pinned { spec.within("cpuAffinity", &set) } else { spec }
    }

    /// What the server made of it, by name; fails if that is not what was asked for.
    pub fn read_back(&self, config: &Node) -> Result<Decisions, String> {
        let found = |path: &str| config.text_at(path).unwrap_or("nothing").to_owned();
        let hardware: Vec<(&str, String, String)> = vec![
            ("the number of vCPUs", found("hardware.numCPU"), self.vcpus.to_string()),
            ("cores of a socket", found("hardware.numCoresPerSocket"), self.settings.cores_per_socket.to_string()),
            ("memory in MiB", found("hardware.memoryMB"), self.memory_mib().to_string()),
            ("the CPU reservation in MHz", found("cpuAllocation.reservation"), self.reserved_mhz().to_string()),
            ("the CPU limit in MHz", found("cpuAllocation.limit"), self.limit_mhz().to_string()),
            ("the memory reservation in MiB", found("memoryAllocation.reservation"), self.reserved_mib().to_string()),
            (
                "the latency sensitivity",
                found("latencySensitivity.level"),
                self.settings.latency_sensitivity.name().to_owned(),
            ),
        ];
        let pinned: Vec<usize> = config
            .child("cpuAffinity")
            .into_iter()
            .flat_map(|set| set.all("affinitySet"))
            .filter_map(|cpu| cpu.text.parse().ok())
            .collect();
        let affinity = ("the CPU affinity", cpu_list::written(&pinned), cpu_list::written(&self.affinity()));
        let hardware = hardware.into_iter().chain([affinity]);
        let mut asked: Vec<(&str, String, String)> = hardware.filter(|_| self.is_copy).collect();
        let extra = |name: &str| {
            let mut all = config.all("extraConfig");
            all.find(|option| option.text_at("key") == Some(name)).and_then(|option| option.text_at("value"))
        };
        for (name, value) in self.settings.extra_config() {
            asked.push((name, extra(name).unwrap_or("nothing").to_owned(), value.to_owned()));
        }
        let disk = devices::data_disk(config).ok_or("it has no disk")?;
        if let Some(adapter) = self.settings.adapter {
            asked.push(("the adapter", disk.controller_kind.clone(), adapter.kind().to_owned()));
        }
        if let (Some(mode), true) = (self.settings.disk_mode, self.is_copy) {
            asked.push(("the disk mode", disk.mode.clone(), mode.name().to_owned()));
        }
        if let (Some(provisioning), true) = (self.settings.provisioning, self.is_copy) {
            asked.push(("provisioning", disk.provisioning().name().to_owned(), provisioning.name().to_owned()));
        }
        let mut wrong: Vec<String> = asked
            .iter()
            .filter(|(_, found, wanted)| found != wanted)
            .map(|(what, found, wanted)| format!("{what} is {found} and not {wanted}"))
            .collect();
        if !devices::is_card(config, self.settings.nic, self.network) {
            wrong.push("the network card is not the one that was asked for".to_owned());
        }
        if !wrong.is_empty() {
            return Err(wrong.join("; "));
        }
        Ok(self.decided(config, &disk))
    }

    fn decided(&self, config: &Node, disk: &devices::LastDisk) -> Decisions {
        let reserved = |amount: u64, unit: &str| match amount {
            0 => "none".to_owned(),
            amount => format!("all, {amount} {unit}"),
        };
        let affinity = self.affinity();
        // Numbers of CPUs of another host, so they are not the "host CPUs" of other platforms.
        let affinity = if affinity.is_empty() { "none".to_owned() } else { cpu_list::written(&affinity) };
        let card = devices::card(config).map(|(kind, network)| match network {
            Some(Network::Standard { name, .. }) => format!("{kind} on {name}"),
            Some(Network::Distributed { group, .. }) => format!("{kind} on the distributed port group {group}"),
            None => kind,
        });
        let mut decided = Decisions::new();
        let mut say = |name: &str, answer: Result<String, String>| decided.insert(name.to_owned(), answer);
        say("processor", Ok("virtual".to_owned()));
        // The host keeps no blocks of a machine's disks in its memory.
        say("data cached twice", Ok("no".to_owned()));
        say("CPU affinity", Ok(affinity));
        say("vCPUs", Ok(format!("{}, {} to a socket", self.vcpus, self.settings.cores_per_socket)));
        say("memory", Ok(format!("{} MiB", self.memory_mib())));
        say("CPU reservation", Ok(reserved(self.reserved_mhz(), "MHz")));
        say("memory reservation", Ok(reserved(self.reserved_mib(), "MiB")));
        if let Some(quota) = self.cpu_quota {
            say("CPU quota", Ok(format!("{quota} of its vCPUs' time, as a limit of {} MHz", self.limit_mhz())));
        }
        say("latency sensitivity", Ok(self.settings.latency_sensitivity.name().to_owned()));
        say("data disk", Ok(disk.described()));
        say("network card", card.ok_or_else(|| "it has none".to_owned()));
        let known =
            |path: &str| config.text_at(path).map(str::to_owned).ok_or_else(|| "the server does not say".to_owned());
        say("virtual hardware", known("version"));
        for (name, value) in self.settings.extra_config() {
            say(name, Ok(value.to_owned()));
        }
        decided
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::parse;
    use super::super::settings;
    use super::*;
    use serde_json::json;

    const CONFIG: &str = "<config><version>vmx-19</version><hardware><numCPU>NUMBER</numCPU><numCoresPerSocket>2</numCoresPerSocket>\
        <memoryMB>1024</memoryMB><device xsi:type=\"ParaVirtualSCSIController\"><key>1000</key></device>\
        <device xsi:type=\"VirtualDisk\"><key>2000</key><backing><fileName>[d] a.vmdk</fileName><diskMode>persistent</diskMode>\
        </backing><controllerKey>1000</controllerKey></device><device xsi:type=\"VirtualVmxnet3\"><key>4000</key><backing>\
        <deviceName>N</deviceName></backing><macAddress>00</macAddress></device></hardware>\
        <cpuAllocation><reservation>10000</reservation><limit>5000</limit></cpuAllocation>\
        <memoryAllocation><reservation>1024</reservation><limit>-1</limit></memoryAllocation>\
        <latencySensitivity><level>high</level></latencySensitivity><cpuAffinity><affinitySet>2</affinitySet><affinitySet>3</affinitySet>\
        </cpuAffinity><extraConfig><key>a.b</key><value>c</value></extraConfig></config>";

    fn config(vcpus: &str) -> Node {
        let text = CONFIG.replace("NUMBER", vcpus);
        parse(&format!("<E xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><Body>{text}</Body></E>")).unwrap()
    }

    fn asked() -> VsphereSettings {
        let table = json!({
            "url": "vc.test", "template": "t", "latency_sensitivity": "high", "cpu_reservation": "all", "memory_reservation": "all",
            "cores_per_socket": 2, "affinity": "2-3", "host": "h", "extra_config": ["a.b=c"],
        });
        settings::read(table.as_object().unwrap()).unwrap()
    }

    fn wanted<'a>(settings: &'a VsphereSettings, words: &'a [(&'a str, &'a str)], is_copy: bool) -> WantedMachine<'a> {
        let (vcpus, memory_bytes, host_mhz, cpu_quota) = (4, 1 << 30, 2_500, Some(0.5));
        WantedMachine { settings, vcpus, memory_bytes, host_mhz, cpu_quota, network: None, is_copy, words }
    }

    #[test]
    fn all_hardware_of_a_copy_is_set_in_the_order_of_the_definition() {
        let settings = asked();
        let words = [("token", "0123")];
        insta::assert_snapshot!(wanted(&settings, &words, true).spec(&config("1")).unwrap().lines(), @r#"
        <numCPUs>4</numCPUs>
        <numCoresPerSocket>2</numCoresPerSocket>
        <memoryMB>1024</memoryMB>
        <cpuAllocation>
        <reservation>10000</reservation>
        <limit>5000</limit>
        </cpuAllocation>
        <memoryAllocation>
        <reservation>1024</reservation>
        <limit>-1</limit>
        </memoryAllocation>
        <latencySensitivity>
        <level>high</level>
        </latencySensitivity>
        <cpuAffinity>
        <affinitySet>2</affinitySet>
        <affinitySet>3</affinitySet>
        </cpuAffinity>
        <extraConfig xsi:type="OptionValue">
        <key>guestinfo.bakeoff.token</key>
        <value xsi:type="xsd:string">0123</value>
        </extraConfig>
        <extraConfig xsi:type="OptionValue">
        <key>a.b</key>
        <value xsi:type="xsd:string">c</value>
        </extraConfig>
        <memoryReservationLockedToMax>true</memoryReservationLockedToMax>
        "#);
        insta::assert_snapshot!(wanted(&settings, &words, false).spec(&config("1")).unwrap().lines(), @r#"
        <extraConfig xsi:type="OptionValue">
        <key>guestinfo.bakeoff.token</key>
        <value xsi:type="xsd:string">0123</value>
        </extraConfig>
        <extraConfig xsi:type="OptionValue">
        <key>a.b</key>
        <value xsi:type="xsd:string">c</value>
        </extraConfig>
        "#);
    }

    #[test]
    fn what_is_not_as_asked_is_told() {
        let settings = asked();
        assert!(wanted(&settings, &[], true).read_back(&config("4")).is_ok());
        assert_eq!(
            wanted(&settings, &[], true).read_back(&config("1")).unwrap_err(),
            "the number of vCPUs is 1 and not 4"
        );
        assert!(wanted(&settings, &[], false).read_back(&config("1")).is_ok(), "the machine that data are loaded in");
        assert!(wanted(&settings, &[], true).read_back(&Node::default()).is_err());
    }
}
