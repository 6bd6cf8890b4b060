//! A session with the server: calls, lists of objects, and tasks, each with a limit.

use super::answer::{self, AnswerError, Object};
use super::calls;
use super::fault::VsphereFault;
use super::http::{Http, HttpError};
use super::node::Node;
use super::request::{Call, Reference};
use machines::machine::MachineError;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use trust::secret::Secret;

/// Pause between two looks at a task: short at first, since most end soon.
const FIRST_LOOK: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// More objects of one kind than any inventory has.
const MOST_PAGES: usize = 1_000;
/// How a server that has no clones names itself: a host without vCenter.
const WITHOUT_VCENTER: &str = "HostAgent";
const OLDEST: (u32, u32) = (6, 5);

#[derive(Debug, thiserror::Error)]
pub enum VsphereError {
    #[error("{server}: {cause}")]
    Http { server: String, cause: HttpError },
    #[error("{server}: {doing}: {fault}")]
    Fault { server: String, doing: String, fault: Box<VsphereFault> },
    #[error("{server}: the answer to {doing}: {why}")]
    Form { server: String, doing: String, why: String },
    #[error("{server}: {doing} did not end within {} s", .limit.as_secs())]
    TooLong { server: String, doing: String, limit: Duration },
    #[error("{0}")]
    Unusable(String),
}

impl VsphereError {
    pub fn is_fault(&self, kind: &str) -> bool {
        matches!(self, Self::Fault { fault, .. } if fault.is(kind))
    }

    /// An error that fails a trial.
    pub fn while_doing(self, doing: &str) -> MachineError {
        MachineError::Io { doing: doing.to_owned(), source: io::Error::other(self) }
    }

    /// An error because of which the contender cannot be measured at all.
    pub fn unavailable(&self) -> MachineError {
        MachineError::Unavailable { why: self.to_string() }
    }
}

/// The objects that every server has.
#[derive(Debug, Clone)]
pub struct ServiceContent {
    pub root: Reference,
    pub sessions: Reference,
    pub views: Reference,
    pub collector: Reference,
    pub performance: Option<Reference>,
    /// Product and version, as the server calls itself.
    pub product: String,
}

pub struct VsphereClient {
    http: Http,
    server: String,
    user: String,
    password: Secret,
    cookie: Mutex<Option<String>>,
    pub content: ServiceContent,
}

impl VsphereClient {
    /// `server` is its name for messages.
    pub fn log_in(http: Http, server: String, user: String, password: Secret) -> Result<Self, VsphereError> {
        let call = calls::of_service("RetrieveServiceContent");
        let posted =
            http.post(&call.envelope(), None).map_err(|cause| VsphereError::Http { server: server.clone(), cause })?;
        let answer = understood(&server, call.method, &posted.text)?;
        let content = content(&answer).map_err(|why| VsphereError::Unusable(format!("{server} {why}")))?;
        let client = Self { http, server, user, password, cookie: Mutex::new(posted.cookie), content };
        client.log_in_again()?;
        Ok(client)
    }

    fn log_in_again(&self) -> Result<(), VsphereError> {
        *self.cookie() = None;
        self.ask(&calls::login(&self.content.sessions, &self.user, self.password.reveal())).map(drop)
    }

    pub fn server(&self) -> &str {
        &self.server
    }

    fn cookie(&self) -> MutexGuard<'_, Option<String>> {
        self.cookie.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, call: &Call) -> Result<Node, VsphereError> {
        let cookie = self.cookie().clone();
        let posted = self
            .http
            .post(&call.envelope(), cookie.as_deref())
            .map_err(|cause| VsphereError::Http { server: self.server.clone(), cause })?;
        if posted.cookie.is_some() {
            *self.cookie() = posted.cookie;
        }
        understood(&self.server, call.method, &posted.text)
    }

    /// Calls a method. A session ends when it was idle; then we log in again, once.
    pub fn call(&self, call: &Call) -> Result<Node, VsphereError> {
        match self.ask(call) {
            Err(error) if error.is_fault("NotAuthenticated") => {
                self.log_in_again()?;
                self.ask(call)
            }
            answer => answer,
        }
    }

    pub fn properties(&self, of: &Reference, paths: &[&str]) -> Result<Object, VsphereError> {
        let answer = self.call(&calls::properties(&self.content.collector, of, paths))?;
        let found = answer::objects(&answer).0.into_iter().next();
        let found =
            found.ok_or_else(|| self.form("RetrievePropertiesEx", format!("it has no {} {}", of.kind, of.id)))?;
        match found.missing {
            None => Ok(found),
            Some(fault) => {
                let (server, doing) = (self.server.clone(), format!("reading {}", paths.join(", ")));
                Err(VsphereError::Fault { server, doing, fault: Box::new(fault) })
            }
        }
    }

    /// All objects of this kind below another, with these properties.
    pub fn all(&self, below: &Reference, kind: &str, paths: &[&str]) -> Result<Vec<Object>, VsphereError> {
        let made = self.call(&calls::view(&self.content.views, below, kind))?;
        let view = self.returned(&made, "CreateContainerView")?;
        let found = self.all_in(&view, kind, paths);
        // It ends with the session at the latest.
        let _ = self.call(&Call::without_arguments(&view, "DestroyView"));
        found
    }

    fn all_in(&self, view: &Reference, kind: &str, paths: &[&str]) -> Result<Vec<Object>, VsphereError> {
        let collector = &self.content.collector;
        let answer = self.call(&calls::properties_of_view(collector, view, kind, paths))?;
        let (mut found, mut token) = answer::objects(&answer);
        for _ in 0..MOST_PAGES {
            let Some(next) = token.take() else { return Ok(found) };
            let (more, after) = answer::objects(&self.call(&calls::next_page(collector, &next))?);
            found.extend(more);
            token = after;
        }
        Err(self.form("ContinueRetrievePropertiesEx", "it has no end".to_owned()))
    }

    /// The object that a method returned.
    pub fn returned(&self, answer: &Node, method: &str) -> Result<Reference, VsphereError> {
        answer.reference_at("returnval").ok_or_else(|| self.form(method, "it names no object".to_owned()))
    }

    pub fn form(&self, doing: &str, why: String) -> VsphereError {
        VsphereError::Form { server: self.server.clone(), doing: doing.to_owned(), why }
    }

    /// Starts a task and waits for its end. Returns its result, which most tasks do not have. A task that takes too long is cancelled.
    pub fn task(&self, call: &Call, doing: &str, limit: Duration) -> Result<Option<Reference>, VsphereError> {
        let deadline = Instant::now() + limit;
        let started = self.call(call).map_err(|error| error.named(doing))?;
        let task = self.returned(&started, call.method)?;
        let mut pause = FIRST_LOOK;
        loop {
            let info = self.properties(&task, &["info.state", "info.error", "info.result"])?;
            match info.text("info.state") {
                Some("success") => return Ok(info.reference("info.result")),
                Some("error") => {
                    let fault = info.get("info.error").map(VsphereFault::of_task).unwrap_or_default();
                    let (server, doing) = (self.server.clone(), doing.to_owned());
                    return Err(VsphereError::Fault { server, doing, fault: Box::new(fault) });
                }
                _ if Instant::now() >= deadline => {
                    // It may be past the point where it can be.
                    let _ = self.call(&Call::without_arguments(&task, "CancelTask"));
                    return Err(VsphereError::TooLong { server: self.server.clone(), doing: doing.to_owned(), limit });
                }
                _ => {}
            }
            std::thread::sleep(pause.min(deadline.saturating_duration_since(Instant::now())));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

impl VsphereError {
    /// With what was tried in our words.
    fn named(self, words: &str) -> Self {
        match self {
            Self::Fault { server, fault, .. } => Self::Fault { server, doing: words.to_owned(), fault },
            other => other,
        }
    }
}

impl Drop for VsphereClient {
    fn drop(&mut self) {
        // Otherwise the session ends when it was idle for long.
        let _ = self.ask(&Call::without_arguments(&self.content.sessions, "Logout"));
    }
}

fn understood(server: &str, method: &str, text: &str) -> Result<Node, VsphereError> {
    let (server, doing) = (server.to_owned(), method.to_owned());
    answer::parse(text).map_err(|error| match error {
        AnswerError::Fault(fault) => VsphereError::Fault { server, doing, fault: Box::new(fault) },
        AnswerError::Form(why) => VsphereError::Form { server, doing, why },
    })
}

/// The server's objects; an error says why it cannot be used.
fn content(answer: &Node) -> Result<ServiceContent, String> {
    let found = answer.child("returnval").ok_or("does not answer as a vCenter server does")?;
    let part = |name: &str| found.reference_at(name).ok_or_else(|| format!("has no {name}"));
    let about = |name: &str| found.text_at(&format!("about.{name}")).unwrap_or_default();
    let product = about("fullName").to_owned();
    if about("apiType") == WITHOUT_VCENTER {
        return Err(format!("is {product} alone, which cannot clone machines; name the vCenter server"));
    }
    let version = about("apiVersion");
    let mut numbers = version.split('.').map(|number| number.parse::<u32>().unwrap_or_default());
    if (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default()) < OLDEST {
        return Err(format!("has version {version:?} of the API, and {}.{} is needed", OLDEST.0, OLDEST.1));
    }
    Ok(ServiceContent {
        root: part("rootFolder")?,
        sessions: part("sessionManager")?,
        views: part("viewManager")?,
        collector: part("propertyCollector")?,
        performance: part("perfManager").ok(),
        product,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(about: &str) -> Result<ServiceContent, String> {
        let parts = ["rootFolder", "sessionManager", "viewManager", "propertyCollector", "perfManager"];
        let parts = parts.map(|name| format!("<{name} type=\"T\">{name}</{name}>")).concat();
        let text =
            format!("<Envelope><Body><R><returnval>{parts}<about>{about}</about></returnval></R></Body></Envelope>");
        content(&answer::parse(&text).unwrap())
    }

    #[test]
    fn only_a_vcenter_server_that_is_not_too_old_is_used() {
        let about = |kind: &str, version: &str| {
            format!("<fullName>A 7</fullName><apiType>{kind}</apiType><apiVersion>{version}</apiVersion>")
        };
        assert_eq!(answer(&about("VirtualCenter", "8.0.3.0")).unwrap().product, "A 7");
        assert!(answer(&about("VirtualCenter", "6.5")).is_ok());
        let told = answer(&about("VirtualCenter", "6.0")).unwrap_err();
        assert_eq!(told, "has version \"6.0\" of the API, and 6.5 is needed");
        let told = answer(&about("HostAgent", "8.0")).unwrap_err();
        assert_eq!(told, "is A 7 alone, which cannot clone machines; name the vCenter server");
        assert_eq!(content(&Node::default()).unwrap_err(), "does not answer as a vCenter server does");
    }
}
