//! The targets of imports: a data folder and a running server. Most tests run on both.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;
use testkit::{Client, Installation, Role, Server, shopkeeper};

/// A shop without products, and a scratch folder for files.
pub(crate) struct ImportTarget {
    // Declared first: it ends before the folder is removed.
    server: Option<Server>,
    pub(crate) store: Installation,
    pub(crate) scratch: TempDir,
    token: String,
}

/// The exit code and the output of an import.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) errors: String,
}

impl ImportTarget {
    /// A folder that no server runs on.
    pub(crate) fn folder() -> Self {
        let scratch = TempDir::new().unwrap();
        let store = Installation::on_folder(&scratch.path().join("data"));
        let token = store.token(1, Role::Editor);
        Self { server: None, store, scratch, token }
    }

    /// A running server, started with these flags.
    pub(crate) fn server(flags: &[&str]) -> Self {
        let mut target = Self::folder();
        target.server = Some(target.store.serve(flags));
        target
    }

    /// Runs a test on both kinds of targets.
    pub(crate) fn each(test: impl Fn(&ImportTarget)) {
        test(&Self::folder());
        test(&Self::server(&[]));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// A command on this target.
    pub(crate) fn command(&self, name: &str) -> Command {
        let mut command = shopkeeper();
        command.arg(name).current_dir(self.scratch.path());
        match &self.server {
            Some(_) => {
                command.args(["--server", &self.address()]);
                command.args(["--token-env", "SHOP_TOKEN"]).env("SHOP_TOKEN", &self.token);
            }
            None => {
                command.args(["--shop", "1", "--data"]).arg(self.store.data());
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

    /// Starts an import from standard input.
    pub(crate) fn import_stream(&self, flags: &[&str]) -> Child {
        let mut command = self.command("import");
        command.arg("-").args(flags).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// All products, read through the API.
    pub(crate) fn products(&self) -> Vec<Value> {
        match &self.server {
            Some(server) => server.client(&self.token).list_all().0,
            None => {
                let server = self.store.serve(&["--model-kind", "off"]);
                server.client(&self.token).list_all().0
            }
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

    /// The result, which must have this exit code.
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}{}", self.out, self.errors);
        self
    }
}

/// Writes a text to a child and waits for its end.
pub(crate) fn feed(mut child: Child, text: &str) -> Ended {
    // The child may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    Ended::of(child.wait_with_output().unwrap())
}
