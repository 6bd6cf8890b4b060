//! A connection for administration that stays open between questions, so that asking a busy server starts nothing new.

use crate::session::SessionError;

/// The connection, once there was a question.
#[derive(Debug)]
pub struct ReusedAdmin<A>(Option<A>);

impl<A> Default for ReusedAdmin<A> {
    fn default() -> Self {
        Self(None)
    }
}

impl<A> ReusedAdmin<A> {
    /// Asks over the open connection, or over a new one if there is none or the server has ended it, as it does when one
    /// of its processes crashes.
    pub fn ask<T>(
        &mut self,
        open: impl FnOnce() -> Result<A, SessionError>,
        question: impl Fn(&mut A) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        let earlier = self.0.take().map(|mut admin| question(&mut admin).map(|answer| (admin, answer)));
        let (admin, answer) = match earlier {
            Some(Ok(found)) => found,
            None | Some(Err(SessionError::Lost(_) | SessionError::Refused { .. })) => {
                let mut admin = open()?;
                let answer = question(&mut admin)?;
                (admin, answer)
            }
            Some(Err(error)) => return Err(error),
        };
        self.0 = Some(admin);
        Ok(answer)
    }
}
