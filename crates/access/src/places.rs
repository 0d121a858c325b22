//! Texts of rules with places to fill in: `%c` for the client id, `%u` for the user name, `%%` for `%`.

/// A text in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Box<str>),
    ClientId,
    UserName,
}

/// A `%` with something else behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StrayPercent;

impl Places {
    pub(crate) fn parse(text: &str) -> Result<Self, StrayPercent> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            if character != '%' {
                literal.push(character);
                continue;
            }
            let place = match characters.next() {
                Some('%') => {
                    literal.push('%');
                    continue;
                }
                Some('c') => Piece::ClientId,
                Some('u') => Piece::UserName,
                _ => return Err(StrayPercent),
            };
            if !literal.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut literal).into()));
            }
            pieces.push(place);
        }
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal.into()));
        }
        Ok(Places(pieces))
    }

    /// Whether there is nothing to fill in.
    pub(crate) fn is_plain(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Text(_)))
    }

    /// Whether the client id is to be filled in.
    pub(crate) fn names_client(&self) -> bool {
        self.0.contains(&Piece::ClientId)
    }

    /// Whether a user name is to be filled in.
    pub(crate) fn names_user(&self) -> bool {
        self.0.contains(&Piece::UserName)
    }

    /// The text for one client; `None` when a value is missing, or not `harmless` there (true: at the very beginning).
    pub(crate) fn fill(
        &self,
        client_id: Option<&str>,
        username: Option<&str>,
        harmless: impl Fn(&str, bool) -> bool,
    ) -> Option<String> {
        let is_fit = |(n, piece): (usize, &Piece)| match piece {
            Piece::Text(_) => true,
            Piece::ClientId => client_id.is_some_and(|value| harmless(value, n == 0)),
            Piece::UserName => username.is_some_and(|value| harmless(value, n == 0)),
        };
        let fits = self.0.iter().enumerate().all(is_fit);
        fits.then(|| self.join(client_id.unwrap_or_default(), username.unwrap_or_default()))
    }

    /// The text with these values, whatever they are.
    pub(crate) fn join(&self, client_id: &str, username: &str) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            text.push_str(match piece {
                Piece::Text(literal) => literal,
                Piece::ClientId => client_id,
                Piece::UserName => username,
            });
        }
        text
    }
}
