//! The `shopkeeper` binary.

fn main() -> std::process::ExitCode {
    server::cli::run(std::env::args_os(), std::env::vars_os())
}
