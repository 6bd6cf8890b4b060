//! An administrative connection that stays open between questions, so that asking a busy server starts nothing new.

use crate::admin::Admin;
use crate::catalog;
use crate::server::Endpoint;
use crate::session::SessionError;
use std::io::ErrorKind;

pub struct ReusedAdmin {
    endpoint: Endpoint,
    /// `None` until the first question, and after an error.
    open: Option<Box<dyn Admin>>,
}

impl ReusedAdmin {
    pub fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, open: None }
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Asks over the open connection. A new one is opened if there is none, or if the server has ended it, for instance
    /// because one of its processes crashed. A server that does not answer in time is not asked again.
    pub fn ask<T>(&mut self, question: impl Fn(&mut dyn Admin) -> Result<T, SessionError>) -> Result<T, SessionError> {
        if let Some(mut admin) = self.open.take() {
            match question(admin.as_mut()) {
                Err(SessionError::Lost(error)) if error.kind() == ErrorKind::TimedOut => {
                    return Err(SessionError::Lost(error));
                }
                Err(SessionError::Lost(_) | SessionError::Refused { .. }) => {}
                answer => {
                    self.open = Some(admin);
                    return answer;
                }
            }
        }
        let mut admin = catalog::admin(&self.endpoint)?;
        let answer = question(admin.as_mut())?;
        self.open = Some(admin);
        Ok(answer)
    }
}
