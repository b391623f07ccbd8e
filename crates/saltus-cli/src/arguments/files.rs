//! Files where a model's name could stand: `saltus sample x.uai` is `saltus sample file x.uai`.

use super::Arguments;
use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use saltus::names::unknown;
use saltus::zoo::ModelSpec;
use std::ffi::OsString;
use std::path::Path;

/// The arguments of this program; ends it with a sentence if they make no sense.
pub fn parse() -> Arguments {
    parse_from(std::env::args_os().collect()).unwrap_or_else(|error| error.exit())
}

/// The arguments in these words.
pub fn parse_from(mut words: Vec<OsString>) -> Result<Arguments, clap::Error> {
    let mut command = Arguments::command();
    let matches = command.try_get_matches_from_mut(&words)?;
    let Some(from_end) = words_of_file(&matches, &command).filter(|count| *count <= words.len())
    else {
        return Arguments::from_arg_matches(&matches);
    };
    let at = words.len() - from_end;
    check_file(&words[at])?;
    words.insert(at, "file".into());
    Arguments::from_arg_matches(&Arguments::command().try_get_matches_from(&words)?)
}

/// How many words there are from a name that is not a model's to the end.
fn words_of_file(matches: &ArgMatches, command: &clap::Command) -> Option<usize> {
    let (name, inner) = matches.subcommand()?;
    match command.find_subcommand(name) {
        Some(known) => words_of_file(inner, known),
        None => Some(1 + inner.get_many::<OsString>("").map_or(0, |words| words.len())),
    }
}

/// Fails if a word can be neither a model nor a file.
fn check_file(word: &OsString) -> Result<(), clap::Error> {
    let text = word.to_string_lossy();
    if text.contains(['.', '/', '\\', '-']) || Path::new(word).exists() {
        return Ok(());
    }
    let known = ModelSpec::ALL.iter().map(|(name, _)| *name);
    let sentence = format!("{}, and there is no such file\n", unknown("model", &text, known));
    Err(Arguments::command().error(ErrorKind::InvalidSubcommand, sentence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Command, ModelArguments, SampleArguments};
    use saltus::zoo::FileSpec;
    use std::path::PathBuf;

    fn sample(line: &str) -> Result<SampleArguments, String> {
        let words = std::iter::once("saltus").chain(line.split(' ')).map(OsString::from);
        match parse_from(words.collect()).map_err(|error| error.to_string())?.command {
            Command::Sample(arguments) => Ok(arguments),
            _ => panic!("not a sample command"),
        }
    }

    #[test]
    fn a_file_stands_where_a_model_could() {
        for line in [
            "sample --chains 7 a/b.uai --seed 3",
            "sample a/b.uai --chains 7 --seed 3",
            "sample --seed 3 --chains 7 file a/b.uai",
        ] {
            let arguments = sample(line).unwrap();
            assert_eq!((arguments.run.chains, arguments.run.seed), (Some(7), Some(3)), "{line}");
            let Some(ModelArguments::Zoo(ModelSpec::File(FileSpec { path, .. }))) = arguments.model
            else {
                panic!("{line}");
            };
            assert_eq!(path, PathBuf::from("a/b.uai"));
        }
        assert!(sample("sample - --format uai").unwrap().model.is_some());
        let sentence = sample("sample isnig --chains 3").err().unwrap();
        assert!(sentence.contains("did you mean 'ising'"), "{sentence}");
    }
}
