//! `formulanet completions` and `formulanet man`: what a shell and `man` know of the commands.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::input::writing;
use crate::output::write_file;

/// Print shell completions
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet completions bash > formulanet.bash\n  \
    formulanet completions zsh > _formulanet\n  \
    formulanet completions fish > formulanet.fish")]
pub(crate) struct CompletionArguments {
    /// The shell
    shell: Shell,
}

/// Print the manual page, or write those of all commands
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet man > formulanet.1\n  \
    formulanet man --out pages")]
pub(crate) struct ManArguments {
    /// Directory for the pages of all commands
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the script.
pub(crate) fn completions(arguments: &CompletionArguments, mut command: Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "formulanet", &mut script);
    writing(io::stdout().lock().write_all(&script))
}

/// Prints or writes the pages.
pub(crate) fn man(arguments: &ManArguments, command: Command) -> Result<()> {
    let Some(folder) = &arguments.out else {
        return writing(io::stdout().lock().write_all(&page(command, "formulanet")?));
    };
    fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    write_pages(command, "", folder)
}

/// The pages of a command and of those under it: `formulanet-library-add.1` and so on.
fn write_pages(command: Command, above: &str, folder: &Path) -> Result<()> {
    let name =
        if above.is_empty() { "formulanet".to_owned() } else { format!("{above}-{}", command.get_name()) };
    let under: Vec<Command> =
        command.get_subcommands().filter(|under| !under.is_hide_set()).cloned().collect();
    write_file(&folder.join(format!("{name}.1")), page(command.bin_name(name.replace('-', " ")), &name)?)?;
    under.into_iter().try_for_each(|command| write_pages(command, &name, folder))
}

fn page(command: Command, title: &str) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command).title(title).render(&mut text).context("cannot write the page")?;
    Ok(text)
}
