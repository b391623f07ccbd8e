//! From the arguments to a model, in words and in memory.

use crate::arguments::{
    BernoulliArguments, BinaryPreset, CategoricalArguments, FhmmArguments, FhmmPreset,
    IsingArguments, ModelArguments, PairwiseArguments, PottsArguments, RbmArguments, ValuesPreset,
};
use crate::failure::Failure;
use crate::memory::Demand;
use crate::number::exact;
use crate::parse::Size;
use crate::table::wrap;
use saltus::model::edge_list::{read_edges, read_fields, sites_joined};
use saltus::model::fhmm::Fhmm;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::model::paper::{self, Temperature};
use saltus::model::rbm::Rbm;
use saltus::{Model, ModelError, Space};

/// Something to do with a model, whatever its type.
pub trait UseModel {
    /// What comes of it.
    type Output;

    /// Does it.
    fn call<M: Model>(self, about: About, model: &M) -> Self::Output;
}

/// What people are told about a model.
#[derive(Clone, Debug)]
pub struct About {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, with the parameters that were used.
    pub words: String,
    /// Its rows and columns, if it is a lattice.
    pub lattice: Option<Size>,
}

impl About {
    /// The first lines of a report: what is being sampled.
    pub fn heading(&self, space: &Space) -> String {
        let words = wrap(&self.words, "model    ", "         ");
        format!("{words}         {} sites × {} values\n", space.sites(), space.values())
    }
}

/// What is needed besides the model's own options.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Seed of random parameters.
    pub seed: u64,
    /// Chains that will run, to see whether they fit in memory.
    pub chains: usize,
}

/// Builds the model and hands it on.
pub fn with_model<U: UseModel>(
    arguments: &ModelArguments,
    context: Context,
    user: U,
) -> Result<U::Output, Failure> {
    match arguments {
        ModelArguments::Bernoulli(arguments) => bernoulli(arguments, context, user),
        ModelArguments::Categorical(arguments) => categorical(arguments, context, user),
        ModelArguments::Ising(arguments) => ising(arguments, context, user),
        ModelArguments::Potts(arguments) => potts(arguments, context, user),
        ModelArguments::Fhmm(arguments) => fhmm(arguments, context, user),
        ModelArguments::Rbm(arguments) => rbm(arguments, context, user),
        #[cfg(feature = "deep")]
        ModelArguments::Resnet(arguments) => resnet(arguments, context, user),
        ModelArguments::Pairwise(arguments) => pairwise(arguments, context, user),
    }
}

impl Context {
    /// How random parameters came about.
    fn drawn(self) -> String {
        format!(" (model seed {})", self.seed)
    }

    /// Fails if a model of independent or sparsely coupled sites would not fit in memory.
    fn check(self, sites: usize, values: usize) -> Result<(), Failure> {
        // A lattice has two edges per site, each kept from both ends.
        self.check_parameters(sites, values, sites.saturating_mul(values.saturating_add(4)))
    }

    fn check_parameters(
        self,
        sites: usize,
        values: usize,
        parameters: usize,
    ) -> Result<(), Failure> {
        Demand { sites, values, parameters, chains: self.chains }.check()
    }
}

fn bernoulli<U: UseModel>(
    arguments: &BernoulliArguments,
    context: Context,
    user: U,
) -> Result<U::Output, Failure> {
    let sites = arguments.sites.unwrap_or(10_000);
    context.check(sites, 2)?;
    let (temperature, word) = temperature(arguments.preset);
    let model = paper::bernoulli(temperature, sites, context.seed)?;
    let words = format!("independent bits, recipe '{word}'{}", context.drawn());
    Ok(user.call(About { name: "bernoulli", words, lattice: None }, &model))
}

fn categorical<U: UseModel>(
    arguments: &CategoricalArguments,
    context: Context,
    user: U,
) -> Result<U::Output, Failure> {
    let sites = arguments.sites.unwrap_or(2000);
    let values = arguments.values.unwrap_or(values_of(arguments.preset));
    context.check(sites, values)?;
    let model = paper::categorical(sites, values, context.seed)?;
    let words =
        format!("independent sites of {values} values with random weights{}", context.drawn());
    Ok(user.call(About { name: "categorical", words, lattice: None }, &model))
}

fn ising<U: UseModel>(
    arguments: &IsingArguments,
    context: Context,
    user: U,
) -> Result<U::Output, Failure> {
    let size = arguments.size.unwrap_or(Size { rows: 50, columns: 50 });
    let lattice = lattice(size, arguments.periodic)?;
    context.check(lattice.sites(), 2)?;
    // Without a preset of their own, a coupling or a field stand for a plain model.
    let plain = arguments.coupling.is_some() || arguments.field.is_some();
    let recipe = (arguments.preset.is_some() || !plain).then(|| temperature(arguments.preset));
    let (mut coupling, mut field) = match recipe {
        Some((temperature, _)) => paper::ising_parameters(temperature, lattice, context.seed),
        None => (0.4, vec![0.0; lattice.sites()]),
    };
    coupling = arguments.coupling.unwrap_or(coupling);
    if let Some(uniform) = arguments.field {
        field.fill(uniform);
    }
    let field_words = match (arguments.field, recipe) {
        (Some(uniform), _) => format!("field {} everywhere", exact(uniform)),
        (None, Some(_)) => format!("a random field{}", context.drawn()),
        (None, None) => "no field".to_owned(),
    };
    let recipe_words = recipe.map_or(String::new(), |(_, word)| format!("recipe '{word}' with "));
    let parameters = format!("{recipe_words}coupling {} and {field_words}", exact(coupling));
    let model = Pairwise::ising_lattice(lattice, coupling, field)?;
    let words = format!("Ising model on {}, {parameters}", on(size, arguments.periodic));
    Ok(user.call(About { name: "ising", words, lattice: Some(size) }, &model))
}

fn potts<U: UseModel>(
    arguments: &PottsArguments,
    context: Context,
    user: U,
) -> Result<U::Output, Failure> {
    let size = arguments.size.unwrap_or(Size { rows: 30, columns: 30 });
    let values = arguments.values.unwrap_or(values_of(arguments.preset));
    let lattice = lattice(size, arguments.periodic)?;
    context.check(lattice.sites(), values)?;
    let coupling = arguments.coupling.unwrap_or(1.0);
    let (field, words) = if arguments.preset.is_some() || arguments.coupling.is_none() {
        let field = paper::potts_field(lattice, values, context.seed);
        (field, format!("a random field{}", context.drawn()))
    } else {
        (vec![0.0; lattice.sites() * values], "no field".to_owned())
    };
    let parameters = format!("coupling {} and {words}", exact(coupling));
    let model = Pairwise::potts_lattice(lattice, values, coupling, &field)?;
    let words = format!("Potts model on {}, {parameters}", on(size, arguments.periodic));
    Ok(user.call(About { name: "potts", words, lattice: Some(size) }, &model))
}

fn fhmm<U: UseModel>(
    arguments: &FhmmArguments,
    context: Context,
    user: U,
) -> Result<U::Output, Failure> {
    let (length, factors, values) = match arguments.preset {
        Some(FhmmPreset::Low) => (100, 20, 2),
        None | Some(FhmmPreset::High) => (200, 10, 2),
        Some(FhmmPreset::C4) => (200, 10, 4),
        Some(FhmmPreset::C8) => (200, 10, 8),
    };
    let length = arguments.length.unwrap_or(length);
    let factors = arguments.factors.unwrap_or(factors);
    let values = arguments.values.unwrap_or(values);
    context.check(length.saturating_mul(factors), values)?;
    let model = Fhmm::simulate(length, factors, values, context.seed)?;
    let words = format!(
        "factorial hidden Markov model of {length} time steps and {factors} hidden chains{}",
        context.drawn()
    );
    Ok(user.call(About { name: "fhmm", words, lattice: None }, &model))
}

fn rbm<U: UseModel>(
    arguments: &RbmArguments,
    context: Context,
    user: U,
) -> Result<U::Output, Failure> {
    let (model, source) = match &arguments.weights {
        Some(path) => (Rbm::load(path)?, format!("from {}", path.display())),
        None => {
            let (visible, hidden) =
                (arguments.visible.unwrap_or(784), arguments.hidden.unwrap_or(25));
            let values = arguments.values.unwrap_or(2);
            // Kept several times over: as weights, as exponentials, ready for the product.
            let parameters = visible.saturating_mul(values).saturating_mul(hidden);
            context.check_parameters(visible, values, parameters)?;
            let model = Rbm::random(visible, hidden, values, context.seed)?;
            (model, format!("with random weights{}", context.drawn()))
        }
    };
    let words = format!("restricted Boltzmann machine of {} hidden units {source}", model.hidden());
    Ok(user.call(About { name: "rbm", words, lattice: None }, &model))
}

#[cfg(feature = "deep")]
fn resnet<U: UseModel>(
    arguments: &crate::arguments::ResnetArguments,
    context: Context,
    user: U,
) -> Result<U::Output, Failure> {
    let model: saltus_nn::DeepModel = saltus_nn::DeepModel::load(&arguments.weights)?;
    let architecture = model.parameters().architecture();
    let (rows, columns) = (architecture.rows(), architecture.columns());
    // An image on its way through the network takes as much as some parameters per channel.
    let parameters = architecture
        .parameters()
        .saturating_add(2 * rows * columns * architecture.width() * context.chains.div_ceil(5));
    context.check_parameters(rows * columns, architecture.values(), parameters)?;
    let words = format!(
        "residual network of {} channels and {} parameters from {}",
        architecture.width(),
        architecture.parameters(),
        arguments.weights.display()
    );
    let lattice = Some(Size { rows, columns });
    Ok(user.call(About { name: "resnet", words, lattice }, &model))
}

fn pairwise<U: UseModel>(
    arguments: &PairwiseArguments,
    context: Context,
    user: U,
) -> Result<U::Output, Failure> {
    let path = arguments.edges.display();
    let edges = read_edges(&arguments.edges)?;
    let joined = sites_joined(&edges);
    let sites = arguments.sites.unwrap_or(joined);
    if sites < joined {
        return Err(Failure::Usage(format!(
            "--sites {sites} is too few: {path} names site {} and sites count from 0",
            joined - 1
        )));
    }
    if sites == 0 {
        return Err(Failure::Failed(format!(
            "{path}: holds no edge; without edges the number of --sites is needed"
        )));
    }
    let values = arguments.values.unwrap_or(2);
    context.check(sites, values)?;
    let fields = match &arguments.fields {
        Some(path) => read_fields(path, sites, values)?,
        None => vec![0.0; if values == 2 { sites } else { sites * values }],
    };
    let model = if values == 2 {
        Pairwise::ising(&edges, fields)
    } else {
        Pairwise::potts(values, &edges, &fields)
    }?;
    let kind = if values == 2 { "Ising" } else { "Potts" };
    let fields = if arguments.fields.is_some() { "fields from a file" } else { "no fields" };
    let words = format!("{kind} model on the {} edges of {path}, {fields}", edges.len());
    Ok(user.call(About { name: "pairwise", words, lattice: None }, &model))
}

fn lattice(size: Size, periodic: bool) -> Result<Lattice, ModelError> {
    if periodic {
        Lattice::periodic(size.rows, size.columns)
    } else {
        Lattice::free(size.rows, size.columns)
    }
}

fn on(size: Size, periodic: bool) -> String {
    let kind = if periodic { "periodic lattice" } else { "lattice" };
    format!("a {size} {kind}")
}

fn temperature(preset: Option<BinaryPreset>) -> (Temperature, &'static str) {
    match preset {
        Some(BinaryPreset::Low) => (Temperature::Low, "low"),
        None | Some(BinaryPreset::High) => (Temperature::High, "high"),
    }
}

fn values_of(preset: Option<ValuesPreset>) -> usize {
    match preset {
        None | Some(ValuesPreset::C4) => 4,
        Some(ValuesPreset::C8) => 8,
    }
}
