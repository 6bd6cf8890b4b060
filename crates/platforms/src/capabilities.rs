//! What a platform can do, as far as that decides how its trials go.

/// The parts that machines use of an image built on this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImageUse {
    #[default]
    None,
    /// They run on the host's kernel.
    Tree,
    /// They boot the image's kernel.
    TreeAndKernel,
}

/// Where the loaded data of a platform are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataHome {
    /// They are loaded natively and become a disk, which the cache keeps.
    #[default]
    Disk,
    /// They are loaded in a machine of the platform, into a folder, which the cache keeps.
    Folder,
    /// They are loaded in a machine of the platform, into a folder on another host. It exists as long as the platform is open,
    /// and its path has only a meaning there.
    Elsewhere,
}

/// The database server of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServerUse {
    /// It is started in the machine, on bakeoff's own data.
    #[default]
    Started,
    /// It already runs on the machine's host. Each trial loads its tables there, and drops them.
    Running,
    /// It already runs, wherever that is, with any data. The machine has nothing to do with it.
    Anywhere,
}

/// The properties that decide the phases of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    pub image: ImageUse,
    pub data: DataHome,
    /// It really does what it is asked to do: there are data to check and a host to watch.
    pub executes: bool,
    pub server: ServerUse,
}

impl Capabilities {
    pub fn starts_server(self) -> bool {
        self.server == ServerUse::Started
    }
}

/// What a platform of this host with an image can do.
pub const fn of_an_image(image: ImageUse) -> Capabilities {
    Capabilities { image, data: DataHome::Disk, executes: true, server: ServerUse::Started }
}
