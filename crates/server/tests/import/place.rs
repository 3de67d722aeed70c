//! Where is imported into? A folder or a server; what holds for one holds for the other, so every
//! test of an import runs on both.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    client::Client,
    server::{Server, issue_token, shopkeeper},
};

/// A shop without products, and a scratch folder for files.
pub(crate) struct Place {
    pub(crate) scratch: TempDir,
    token: String,
    server: Option<Server>,
}

/// How an import ended and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) errors: String,
}

impl Place {
    /// A folder that no server runs on.
    pub(crate) fn folder() -> Self {
        let scratch = TempDir::new().unwrap();
        let token = issue_token(&scratch.path().join("data"), "EDITOR");
        Self { scratch, token, server: None }
    }

    /// A running server, started with these flags.
    pub(crate) fn server(flags: &[&str]) -> Self {
        let mut place = Self::folder();
        let mut command = shopkeeper();
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(flags);
        command.arg("--data").arg(place.data());
        place.server = Some(Server::run(&mut command));
        place
    }

    /// The same test in both kinds of places.
    pub(crate) fn each(test: impl Fn(&Place)) {
        test(&Self::folder());
        test(&Self::server(&[]));
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.scratch.path().join("data")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// A command that works on this place.
    pub(crate) fn command(&self, name: &str) -> Command {
        let mut command = shopkeeper();
        command.arg(name).current_dir(self.scratch.path());
        match &self.server {
            Some(_) => {
                command.args(["--server", &self.address()]);
                command.args(["--token-env", "SHOP_TOKEN"]).env("SHOP_TOKEN", &self.token);
            }
            None => {
                command.args(["--shop", "1", "--data"]).arg(self.data());
            }
        }
        command
    }

    /// The address of the server.
    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.server.as_ref().unwrap().address())
    }

    pub(crate) fn client(&self) -> Client {
        self.server.as_ref().unwrap().client(&self.token)
    }

    pub(crate) fn import(&self, file: &Path, flags: &[&str]) -> Ended {
        Ended::of(self.command("import").arg(file).args(flags).output().unwrap())
    }

    /// Begins an import from standard input.
    pub(crate) fn import_stream(&self, flags: &[&str]) -> Child {
        let mut command = self.command("import");
        command.arg("-").args(flags).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// All products, by the interface itself.
    pub(crate) fn products(&self) -> Vec<Value> {
        match &self.server {
            Some(server) => server.client(&self.token).list().0,
            None => Server::start(&self.data()).client(&self.token).list().0,
        }
    }

    /// One field of all products.
    pub(crate) fn all(&self, field: &str) -> Vec<String> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.products().iter().map(|product| text(&product[field])).collect()
    }
}

impl Ended {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let errors = text(output.stderr);
        assert!(!errors.contains("panicked"), "{errors}");
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), errors }
    }

    /// That it ended with this code.
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}{}", self.out, self.errors);
        self
    }
}

/// Hands a text to a child and waits for its end.
pub(crate) fn feed(mut child: Child, text: &str) -> Ended {
    // It may end before it has read all.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    Ended::of(child.wait_with_output().unwrap())
}
