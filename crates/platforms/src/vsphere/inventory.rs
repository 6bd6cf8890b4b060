//! Finds what the settings name in the server's inventory. A name that is not there is reported with the nearest one that is.

use super::answer::Object;
use super::client::{VsphereClient, VsphereError};
use super::devices::{self, Network};
use super::node::Node;
use super::request::Reference;
use super::settings::VsphereSettings;

/// How many names an error lists.
const LISTED: usize = 8;

/// The objects that the machines of a contender are made of.
#[derive(Debug, Clone)]
pub struct Inventory {
    pub template: Reference,
    pub snapshot: Option<Reference>,
    /// Where our own folder is made.
    pub folder: Reference,
    pub pool: Reference,
    pub host: Option<Reference>,
    /// Where disks are put, if that is asked for.
    pub datastore: Option<Reference>,
    /// Where they will be.
    pub disks_on: Option<Reference>,
    pub network: Option<Network>,
}

/// One of the objects of a kind: by its name, or the only one.
fn chosen(server: &str, kind: &str, key: &str, name: Option<&str>, found: &[Object]) -> Result<Object, VsphereError> {
    let unusable = |why: String| Err(VsphereError::Unusable(format!("{server}: {why}")));
    let names: Vec<String> = found.iter().map(Object::name).collect();
    let listed = || {
        let more = if names.len() > LISTED { ", …" } else { "" };
        format!("{}{more}", names.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", "))
    };
    let Some(name) = name else {
        return match found {
            [only] => Ok(only.clone()),
            [] => unusable(format!("there is no {kind}, or the user may not see it")),
            _ => unusable(format!("there are several of the kind {kind} ({}); platform.{key} says which", listed())),
        };
    };
    let mut fitting = found.iter().filter(|object| object.name() == name);
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => Ok(only.clone()),
        (Some(_), Some(_)) => {
            unusable(format!("there are several of the kind {kind} named \"{name}\"; rename one of them"))
        }
        (None, _) => {
            let nearest = settings::nearest(name, names.iter().map(String::as_str));
            let nearest = match nearest {
                Some(nearest) => format!("did you mean \"{nearest}\"?"),
                None if names.is_empty() => "the user sees none".to_owned(),
                None => format!("there are {}", listed()),
            };
            unusable(format!("there is no {kind} \"{name}\" (platform.{key}); {nearest}"))
        }
    }
}

pub fn find(client: &VsphereClient, settings: &VsphereSettings) -> Result<Inventory, VsphereError> {
    let server = client.server();
    let choose = |kind: &str, key: &str, name: Option<&str>, found: &[Object]| chosen(server, kind, key, name, found);
    let paths = ["name", "vmFolder", "hostFolder", "datastoreFolder", "networkFolder"];
    let datacenters = client.all(&client.content.root, "Datacenter", &paths)?;
    let datacenter = choose("datacenter", "datacenter", settings.datacenter.as_deref(), &datacenters)?;
    let below = |folder: &str| {
        datacenter.reference(folder).ok_or_else(|| client.form("the datacenter", format!("it has no {folder}")))
    };
    let named = |folder: &str, kind: &'static str, key: &str, name: &str, paths: &[&str]| {
        let found = client.all(&below(folder)?, kind, paths)?;
        choose(&words(kind), key, Some(name), &found)
    };
    let asked = |folder: &str, kind: &'static str, key: &str, name: Option<&String>, paths: &[&str]| {
        name.map(|name| named(folder, kind, key, name, paths)).transpose()
    };
    let folder = match asked("vmFolder", "Folder", "folder", settings.folder.as_ref(), &["name"])? {
        None => below("vmFolder")?,
        Some(folder) => folder.reference,
    };
    let template = named("vmFolder", "VirtualMachine", "template", &settings.template, &["name"])?.reference;
    let about = client.properties(&template, &["config", "snapshot", "datastore"])?;
    let config = about.get("config").ok_or_else(|| {
        VsphereError::Unusable(format!(
            "{server}: the template \"{}\" has no configuration; is it half made?",
            settings.template
        ))
    })?;
    require_usable(server, &settings.template, config)?;
    let snapshot = settings.snapshot.as_deref().map(|name| {
        snapshot(about.get("snapshot"), name)
            .map_err(|why| VsphereError::Unusable(format!("{server}: the template \"{}\" {why}", settings.template)))
    });
    let host = asked("hostFolder", "HostSystem", "host", settings.host.as_ref(), &["name", "parent"])?;
    let datastore = asked("datastoreFolder", "Datastore", "datastore", settings.datastore.as_ref(), &["name"])?;
    let datastore = datastore.map(|datastore| datastore.reference);
    let of_template = about.get("datastore").and_then(|list| list.references().into_iter().next());
    let network = asked("networkFolder", "Network", "network", settings.network.as_ref(), &["name"])?;
    let network = network.map(|network| connection(client, &network)).transpose()?;
    Ok(Inventory {
        template,
        snapshot: snapshot.transpose()?,
        folder,
        pool: pool(client, settings, &below("hostFolder")?, host.as_ref())?,
        host: host.map(|host| host.reference),
        disks_on: datastore.clone().or(of_template),
        datastore,
        network,
    })
}

/// The server's word for a kind, in ours.
fn words(kind: &str) -> String {
    match kind {
        "VirtualMachine" => "template or machine".to_owned(),
        "HostSystem" => "host".to_owned(),
        other => other.to_lowercase(),
    }
}

fn require_usable(server: &str, name: &str, config: &Node) -> Result<(), VsphereError> {
    let lacks = match (devices::data_disk(config), devices::card(config)) {
        (None, _) => "disk",
        (_, None) => "network card",
        _ => return Ok(()),
    };
    Err(VsphereError::Unusable(format!("{server}: the template \"{name}\" has no {lacks}")))
}

/// The snapshot with this name.
fn snapshot(tree: Option<&Node>, name: &str) -> Result<Reference, String> {
    let mut names = Vec::new();
    let mut left: Vec<&Node> = tree.into_iter().flat_map(|tree| tree.all("rootSnapshotList")).collect();
    while let Some(node) = left.pop() {
        let found = node.text_at("name").unwrap_or_default();
        if found == name
            && let Some(reference) = node.reference_at("snapshot")
        {
            return Ok(reference);
        }
        names.push(found);
        left.extend(node.all("childSnapshotList"));
    }
    let known = match settings::nearest(name, names.iter().copied()) {
        Some(nearest) => format!("did you mean \"{nearest}\"?"),
        None if names.is_empty() => "it has none".to_owned(),
        None => format!("it has {}", names.join(", ")),
    };
    Err(format!("has no snapshot \"{name}\" (platform.snapshot); {known}"))
}

/// A pool by its name or its cluster's, or the whole of the host or of the only cluster.
fn pool(
    client: &VsphereClient,
    settings: &VsphereSettings,
    hosts: &Reference,
    host: Option<&Object>,
) -> Result<Reference, VsphereError> {
    let whole = |object: &Object| {
        object.reference("resourcePool").ok_or_else(|| client.form("the cluster", "it has no resource pool".to_owned()))
    };
    if let (None, Some(parent)) = (&settings.resource_pool, host.and_then(|host| host.reference("parent"))) {
        return whole(&client.properties(&parent, &["resourcePool"])?);
    }
    let clusters = client.all(hosts, "ComputeResource", &["name", "resourcePool"])?;
    let Some(name) = settings.resource_pool.as_deref() else {
        return whole(&chosen(client.server(), "cluster or host", "resource_pool", None, &clusters)?);
    };
    if let Some(cluster) = clusters.iter().find(|cluster| cluster.name() == name) {
        return whole(cluster);
    }
    let mut found = client.all(hosts, "ResourcePool", &["name"])?;
    found.extend(clusters);
    Ok(chosen(client.server(), "resource pool or cluster", "resource_pool", Some(name), &found)?.reference)
}

fn connection(client: &VsphereClient, network: &Object) -> Result<Network, VsphereError> {
    if network.reference.kind != "DistributedVirtualPortgroup" {
        return Ok(devices::network(network, None));
    }
    let group = client.properties(&network.reference, &["name", "key", "config.distributedVirtualSwitch"])?;
    let switch = group.reference("config.distributedVirtualSwitch");
    let switch = switch.ok_or_else(|| client.form("the network", "it has no switch".to_owned()))?;
    let switch = client.properties(&switch, &["uuid"])?;
    Ok(devices::network(&group, switch.text("uuid")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn named(names: &[&str]) -> Vec<Object> {
        let object = |name: &&str| {
            let name = Node { text: (*name).to_owned(), ..Node::default() };
            Object {
                reference: Reference::new("Folder", "f"),
                properties: BTreeMap::from([("name".to_owned(), name)]),
                missing: None,
            }
        };
        names.iter().map(object).collect()
    }

    #[test]
    fn a_wrong_name_is_told_with_the_nearest() {
        let told = |name: Option<&str>, names: &[&str]| {
            chosen("vc.test", "folder", "folder", name, &named(names)).unwrap_err().to_string()
        };
        let all = [
            told(Some("benchmark"), &["benchmarks", "other"]),
            told(Some("x"), &["one", "two"]),
            told(Some("x"), &[]),
            told(Some("x"), &["x", "x"]),
            told(None, &["one", "two"]),
            told(None, &[]),
        ];
        insta::assert_snapshot!(all.join("\n"), @r#"
        vc.test: there is no folder "benchmark" (platform.folder); did you mean "benchmarks"?
        vc.test: there is no folder "x" (platform.folder); there are one, two
        vc.test: there is no folder "x" (platform.folder); the user sees none
        vc.test: there are several of the kind folder named "x"; rename one of them
        vc.test: there are several of the kind folder (one, two); platform.folder says which
        vc.test: there is no folder, or the user may not see it
        "#);
        assert_eq!(chosen("vc.test", "folder", "folder", None, &named(&["one"])).unwrap().name(), "one");
        assert_eq!(chosen("vc.test", "folder", "folder", Some("a/b"), &named(&["a%2fb"])).unwrap().name(), "a/b");
    }
}
