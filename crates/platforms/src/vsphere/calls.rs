//! The methods of the server that we call with arguments, each as a pure function of them.

use super::request::{Call, Reference, Xml};

/// Objects of one page; the server may give fewer.
const PAGE: u32 = 500;

/// A method of the object with which a client begins. Every server has it.
pub fn of_service(method: &'static str) -> Call {
    Call::without_arguments(&Reference::new("ServiceInstance", "ServiceInstance"), method)
}

pub fn login(sessions: &Reference, user: &str, password: &str) -> Call {
    Call::of(sessions, "Login", &Xml::new().text("userName", user).text("password", password))
}

/// A list of all objects of this kind below another.
pub fn view(views: &Reference, container: &Reference, kind: &str) -> Call {
    let arguments = Xml::new().reference("container", container).text("type", kind).text("recursive", true);
    Call::of(views, "CreateContainerView", &arguments)
}

fn property_set(kind: &str, paths: &[&str]) -> Xml {
    let set = paths.iter().fold(Xml::new().text("type", kind), |set, path| set.text("pathSet", path));
    Xml::new().within("propSet", &set)
}

/// Properties of one object.
pub fn properties(collector: &Reference, of: &Reference, paths: &[&str]) -> Call {
    let filter = property_set(&of.kind, paths).within("objectSet", &Xml::new().reference("obj", of));
    retrieve(collector, &filter)
}

/// The same properties of all objects in a view.
pub fn properties_of_view(collector: &Reference, view: &Reference, kind: &str, paths: &[&str]) -> Call {
    let through =
        Xml::new().text("name", "view").text("type", "ContainerView").text("path", "view").text("skip", false);
    let objects = Xml::new().reference("obj", view).text("skip", true).typed("selectSet", "TraversalSpec", &through);
    retrieve(collector, &property_set(kind, paths).within("objectSet", &objects))
}

fn retrieve(collector: &Reference, filter: &Xml) -> Call {
    let options = Xml::new().text("maxObjects", PAGE);
    Call::of(collector, "RetrievePropertiesEx", &Xml::new().within("specSet", filter).within("options", &options))
}

pub fn next_page(collector: &Reference, token: &str) -> Call {
    Call::of(collector, "ContinueRetrievePropertiesEx", &Xml::new().text("token", token))
}

pub fn create_folder(parent: &Reference, name: &str) -> Call {
    Call::of(parent, "CreateFolder", &Xml::new().text("name", name))
}

/// Where a clone goes, and what of it.
#[derive(Debug, Clone, Copy)]
pub struct Clone<'a> {
    pub folder: &'a Reference,
    pub name: &'a str,
    pub pool: &'a Reference,
    pub host: Option<&'a Reference>,
    pub datastore: Option<&'a Reference>,
    pub snapshot: Option<&'a Reference>,
    /// Its disks hang on those of the snapshot; otherwise they are copied.
    pub is_linked: bool,
    /// How the copied disks are kept.
    pub disks: &'a [CopiedDisk],
    pub annotation: &'a str,
}

/// A disk of a full clone whose blocks are kept in another way than those of the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedDisk {
    pub key: i32,
    pub datastore: Reference,
    pub mode: String,
    pub is_thin: bool,
    pub is_zeroed: bool,
}

impl CopiedDisk {
    fn locator(&self) -> Xml {
        let backing = Xml::new()
            .text("fileName", "")
            .text("diskMode", &self.mode)
            .text("thinProvisioned", self.is_thin)
            .text("eagerlyScrub", self.is_zeroed);
        Xml::new().text("diskId", self.key).reference("datastore", &self.datastore).typed(
            "diskBackingInfo",
            "VirtualDiskFlatVer2BackingInfo",
            &backing,
        )
    }
}

pub fn clone(original: &Reference, clone: &Clone<'_>) -> Call {
    let location = Xml::new()
        .reference_if("datastore", clone.datastore)
        .text_if("diskMoveType", clone.is_linked.then_some("createNewChildDiskBacking"))
        .reference("pool", clone.pool)
        .reference_if("host", clone.host);
    let location = clone.disks.iter().fold(location, |location, disk| location.within("disk", &disk.locator()));
    let spec = Xml::new()
        .within("location", &location)
        .text("template", false)
        .within("config", &Xml::new().text("annotation", clone.annotation))
        .text("powerOn", false)
        .reference_if("snapshot", clone.snapshot);
    let arguments = Xml::new().reference("folder", clone.folder).text("name", clone.name).within("spec", &spec);
    Call::of(original, "CloneVM_Task", &arguments)
}

pub fn reconfigure(machine: &Reference, spec: &Xml) -> Call {
    Call::of(machine, "ReconfigVM_Task", &Xml::new().within("spec", spec))
}

/// Without memory, so of a machine that is off.
pub fn snapshot(machine: &Reference, name: &str) -> Call {
    let arguments = Xml::new().text("name", name).text("memory", false).text("quiesce", false);
    Call::of(machine, "CreateSnapshot_Task", &arguments)
}

/// The last samples of a machine's counters, each with the instances that it is asked of ("" for all together, "*" for each).
pub fn samples(manager: &Reference, machine: &Reference, counters: &[(i32, &str)], interval_s: u32, most: u32) -> Call {
    let spec = Xml::new().reference("entity", machine).text("maxSample", most);
    let spec = counters.iter().fold(spec, |spec, (id, instance)| {
        spec.within("metricId", &Xml::new().text("counterId", id).text("instance", instance))
    });
    let spec = spec.text("intervalId", interval_s).text("format", "csv");
    Call::of(manager, "QueryPerf", &Xml::new().within("querySpec", &spec))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(call: &Call) -> String {
        let whole = call.envelope();
        let from = whole.find("<_this").unwrap();
        whole[from..].replace("><", ">\n<").split("\n</CloneVM_Task").next().unwrap().to_owned()
    }

    #[test]
    fn a_linked_clone_hangs_on_a_snapshot() {
        let of = |kind: &str, id: &str| Reference::new(kind, id);
        let (folder, pool, snapshot) = (of("Folder", "f"), of("ResourcePool", "p"), of("VirtualMachineSnapshot", "s"));
        let order = Clone {
            folder: &folder,
            name: "a & b",
            pool: &pool,
            host: None,
            datastore: None,
            snapshot: Some(&snapshot),
            is_linked: true,
            disks: &[],
            annotation: "of bakeoff",
        };
        insta::assert_snapshot!(lines(&clone(&of("VirtualMachine", "vm-1"), &order)), @r#"
        <_this type="VirtualMachine">vm-1</_this>
        <folder type="Folder">f</folder>
        <name>a &amp; b</name>
        <spec>
        <location>
        <diskMoveType>createNewChildDiskBacking</diskMoveType>
        <pool type="ResourcePool">p</pool>
        </location>
        <template>false</template>
        <config>
        <annotation>of bakeoff</annotation>
        </config>
        <powerOn>false</powerOn>
        <snapshot type="VirtualMachineSnapshot">s</snapshot>
        </spec>
        "#);
    }

    #[test]
    fn a_full_clone_says_how_disks_are_kept() {
        let of = |kind: &str, id: &str| Reference::new(kind, id);
        let (folder, pool, host, datastore) =
            (of("Folder", "f"), of("ResourcePool", "p"), of("HostSystem", "h"), of("Datastore", "d"));
        let disk = CopiedDisk {
            key: 2001,
            datastore: datastore.clone(),
            mode: "persistent".into(),
            is_thin: false,
            is_zeroed: true,
        };
        let order = Clone {
            folder: &folder,
            name: "a",
            pool: &pool,
            host: Some(&host),
            datastore: Some(&datastore),
            snapshot: None,
            is_linked: false,
            disks: &[disk],
            annotation: "",
        };
        insta::assert_snapshot!(lines(&clone(&of("VirtualMachine", "vm-1"), &order)), @r#"
        <_this type="VirtualMachine">vm-1</_this>
        <folder type="Folder">f</folder>
        <name>a</name>
        <spec>
        <location>
        <datastore type="Datastore">d</datastore>
        <pool type="ResourcePool">p</pool>
        <host type="HostSystem">h</host>
        <disk>
        <diskId>2001</diskId>
        <datastore type="Datastore">d</datastore>
        <diskBackingInfo xsi:type="VirtualDiskFlatVer2BackingInfo">
        <fileName>
        </fileName>
        <diskMode>persistent</diskMode>
        <thinProvisioned>false</thinProvisioned>
        <eagerlyScrub>true</eagerlyScrub>
        </diskBackingInfo>
        </disk>
        </location>
        <template>false</template>
        <config>
        <annotation>
        </annotation>
        </config>
        <powerOn>false</powerOn>
        </spec>
        "#);
    }

    #[test]
    fn a_password_is_in_no_other_call() {
        let login = login(&Reference::new("SessionManager", "s"), "me", "a<b");
        assert!(login.envelope().contains("<password>a&lt;b</password>"));
    }
}
