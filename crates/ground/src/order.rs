//! Sorting by numbers.
//!
//! Callers are often compiled once per game; the sorting is not, because it only sees the numbers.

/// Sorts indices of numbers by descending number; ties keep ascending indices. NaN comes first or last, by its sign.
pub fn highest_first(numbers: &[f32], places: &mut [usize]) {
    places.sort_unstable_by(|&a, &b| numbers[b].total_cmp(&numbers[a]).then(a.cmp(&b)));
}

/// All indices of numbers, sorted by [`highest_first`].
pub fn places_by(numbers: &[f32]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..numbers.len()).collect();
    highest_first(numbers, &mut places);
    places
}

/// Sorts items by descending number (stable). NaN comes first or last, by its sign.
pub fn sort_by_highest<T>(items: &mut Vec<T>, number: &dyn Fn(&T) -> f64) {
    let numbers: Vec<f64> = items.iter().map(number).collect();
    let mut unsorted: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(places_by_f64(&numbers).into_iter().filter_map(|place| unsorted[place].take()));
}

fn places_by_f64(numbers: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..numbers.len()).collect();
    places.sort_unstable_by(|&a, &b| numbers[b].total_cmp(&numbers[a]).then(a.cmp(&b)));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_comes_first_and_of_equal_ones_the_first() {
        let numbers = [1.0, 3.0, f32::NEG_INFINITY, 3.0, 2.0, -0.0, 0.0];
        assert_eq!(places_by(&numbers), [1, 3, 4, 0, 6, 5, 2]);
        let mut some = [4, 5, 3, 1];
        highest_first(&numbers, &mut some);
        assert_eq!(some, [1, 3, 4, 5]);
        let mut words: Vec<String> = ["one", "three", "two", "seven", ""].map(String::from).into();
        sort_by_highest(&mut words, &|word| word.len() as f64);
        assert_eq!(words, ["three", "seven", "one", "two", ""]);
    }
}
