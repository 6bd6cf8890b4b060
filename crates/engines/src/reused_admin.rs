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
        let earlier = self.open.take().map(|mut admin| question(admin.as_mut()).map(|answer| (admin, answer)));
        let (admin, answer) = match earlier {
            Some(Ok(found)) => found,
            Some(Err(SessionError::Lost(error))) if error.kind() == ErrorKind::TimedOut => {
                return Err(SessionError::Lost(error));
            }
            None | Some(Err(SessionError::Lost(_) | SessionError::Refused { .. })) => {
                let mut admin = catalog::admin(&self.endpoint)?;
                let answer = question(admin.as_mut())?;
                (admin, answer)
            }
            Some(Err(error)) => return Err(error),
        };
        self.open = Some(admin);
        Ok(answer)
    }
}
