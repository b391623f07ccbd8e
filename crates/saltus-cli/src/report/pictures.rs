//! Pictures of lattices and images: the mean of every site, and a grid of draws.

use super::page::{Figure, Picture};
use crate::failure::Failure;
use crate::model::rows_and_columns;
use crate::parse::Size;
use crate::plot::chart::Chart;
use crate::plot::frame::Division;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use resvg::tiny_skia::{ColorU8, Pixmap};
use saltus::draws::sites::Sites;
use saltus::store::{Keep, Stored};

/// Most draws that are shown.
const DRAWS: usize = 24;
/// A picture has at most so many sites on a side, so that the page stays small.
const LARGEST: usize = 400;

/// What there is to see of whole states.
#[derive(Default)]
pub struct Pictures {
    /// The mean of every site.
    pub mean: Option<Picture>,
    /// Single draws.
    pub draws: Vec<Picture>,
    /// The distribution of the means over sites.
    pub marginals: Option<Figure>,
    /// Why there are no draws, if that could be changed.
    pub hint: Option<&'static str>,
}

/// The pictures of a run.
pub fn of_run(stored: &Stored, sites: Option<&Sites>) -> Result<Pictures, Failure> {
    let mut pictures =
        Pictures { marginals: sites.map(|sites| marginals(sites, stored)), ..Pictures::default() };
    let Some((rows, columns)) = shape(stored) else {
        return Ok(pictures);
    };
    let last = (stored.space().values() - 1) as f64;
    if let Some(sites) = sites {
        let shades: Vec<f64> = sites.means.iter().map(|mean| mean / last).collect();
        pictures.mean = picture(&shades, rows, columns, "mean over all draws".to_owned());
    }
    if stored.description().keep == Keep::None {
        pictures.hint =
            Some("Single draws are shown if states are kept: --keep bits, or --keep states.");
        return Ok(pictures);
    }
    for (chain, draw) in shown(stored.chains(), stored.draws()) {
        let Some(state) = stored.states(chain, draw..draw + 1)? else {
            continue;
        };
        let shades: Vec<f64> = state.iter().map(|value| f64::from(*value) / last).collect();
        let caption = format!("chain {chain} · {draw}");
        pictures.draws.extend(picture(&shades, rows, columns, caption));
    }
    Ok(pictures)
}

/// Rows and columns, if the sites make a picture: a lattice, or an RBM of a square of pixels.
fn shape(stored: &Stored) -> Option<(usize, usize)> {
    let sites = stored.space().sites();
    let (rows, columns) = match rows_and_columns(stored.space()) {
        Some(Size { rows, columns }) => (rows, columns),
        None if stored.description().model == "rbm" => (sites.isqrt(), sites.isqrt()),
        None => return None,
    };
    let sides = 2..=LARGEST;
    let fits = sides.contains(&rows) && sides.contains(&columns) && rows * columns == sites;
    fits.then_some((rows, columns))
}

/// The last draw of different chains; of few chains also earlier ones.
fn shown(chains: usize, draws: usize) -> Vec<(usize, usize)> {
    let of_each = (DRAWS / chains.max(1)).max(1).min(draws);
    let chains = (0..chains).take(DRAWS);
    chains.flat_map(|chain| (1..=of_each).map(move |k| (chain, k * draws / of_each - 1))).collect()
}

fn marginals(sites: &Sites, stored: &Stored) -> Figure {
    const BINS: usize = 40;
    let last = (stored.space().values() - 1) as f64;
    let mut bins = [0.0; BINS];
    for mean in &sites.means {
        bins[((mean / last * BINS as f64) as usize).min(BINS - 1)] += 1.0;
    }
    let tallest = bins.iter().copied().fold(1.0, f64::max);
    let mut chart = Chart::new((0.0, last), (0.0, tallest), Division::Linear, "mean of a site");
    for (bin, count) in bins.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        let width = last / BINS as f64;
        chart.bar(bin as f64 * width, (bin + 1) as f64 * width, *count, "s0");
    }
    let svg = chart.finish("histogram of the means of all sites");
    Figure::new("Means of the sites", svg, "number of sites".to_owned())
}

/// Sites in shades from 0 to 1.
fn picture(shades: &[f64], rows: usize, columns: usize, caption: String) -> Option<Picture> {
    let mut pixels = Pixmap::new(columns as u32, rows as u32)?;
    for (pixel, shade) in pixels.pixels_mut().iter_mut().zip(shades) {
        let [red, green, blue] = colour(*shade);
        *pixel = ColorU8::from_rgba(red, green, blue, 255).premultiply();
    }
    let png = pixels.encode_png().ok()?;
    let source = format!("data:image/png;base64,{}", STANDARD.encode(png));
    Some(Picture { source, rows, columns, caption })
}

/// Dark blue through green to yellow, equally bright steps for every eye: a few colours of viridis
/// and what lies between them.
fn colour(shade: f64) -> [u8; 3] {
    const STOPS: [[f64; 3]; 5] = [
        [68.0, 1.0, 84.0],
        [59.0, 82.0, 139.0],
        [33.0, 145.0, 140.0],
        [94.0, 201.0, 98.0],
        [253.0, 231.0, 37.0],
    ];
    let place = shade.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let stop = (place as usize).min(STOPS.len() - 2);
    let part = place - stop as f64;
    std::array::from_fn(|k| {
        (STOPS[stop][k] + part * (STOPS[stop + 1][k] - STOPS[stop][k])).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_taken_from_many_chains() {
        assert_eq!(shown(2, 100).len(), 24);
        assert_eq!(shown(100, 50), (0..24).map(|chain| (chain, 49)).collect::<Vec<_>>());
        assert_eq!(shown(1, 3), [(0, 0), (0, 1), (0, 2)]);
        assert!(shown(3, 0).is_empty());
    }

    #[test]
    fn shades_have_colours() {
        assert_eq!(colour(0.0), [68, 1, 84]);
        assert_eq!(colour(0.5), [33, 145, 140]);
        assert_eq!(colour(1.0), [253, 231, 37]);
        assert!(picture(&[0.0, 1.0], 1, 2, String::new()).is_some());
    }
}
