//! `sort.Slice` of Go, which is not stable.
//!
//! Karpenter sorts the nodes that it plans by their number of pods before it tries the next pod, and keeps the sorted list. With
//! more than 12 nodes the order of equal nodes is an effect of Go's algorithm, and decides which node gets the pod. This is
//! the pattern-defeating quicksort of src/sort/zsortfunc.go at go1.24, which is the same since go1.19.

/// Length up to which Go uses an insertion sort.
const SHORT: usize = 12;

/// Sorts in the order of `sort.Slice`.
pub(crate) fn sort_slice<T>(data: &mut [T], less: impl Fn(&T, &T) -> bool) {
    let limit = usize::BITS - data.len().leading_zeros();
    let length = data.len();
    Sort { data, less }.quick(0, length, limit);
}

struct Sort<'s, T, L> {
    data: &'s mut [T],
    less: L,
}

/// Hint about the order of the items.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    Unknown,
    Increasing,
    Decreasing,
}

impl<T, L: Fn(&T, &T) -> bool> Sort<'_, T, L> {
    fn less(&self, a: usize, b: usize) -> bool {
        match (self.data.get(a), self.data.get(b)) {
            (Some(one), Some(other)) => (self.less)(one, other),
            _ => false,
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.data.swap(a, b);
    }

    fn insertion(&mut self, a: usize, b: usize) {
        for i in a + 1..b {
            let mut j = i;
            while j > a && self.less(j, j - 1) {
                self.swap(j, j - 1);
                j -= 1;
            }
        }
    }

    fn quick(&mut self, mut a: usize, mut b: usize, mut limit: u32) {
        let (mut was_balanced, mut was_partitioned) = (true, true);
        loop {
            let length = b - a;
            if length <= SHORT {
                return self.insertion(a, b);
            }
            if limit == 0 {
                return self.heap(a, b);
            }
            if !was_balanced {
                self.break_patterns(a, b);
                limit -= 1;
            }
            let (mut pivot, mut hint) = self.choose_pivot(a, b);
            if hint == Hint::Decreasing {
                self.reverse(a, b);
                pivot = (b - 1) - (pivot - a);
                hint = Hint::Increasing;
            }
            if was_balanced && was_partitioned && hint == Hint::Increasing && self.partial_insertion(a, b) {
                return;
            }
            if a > 0 && !self.less(a - 1, pivot) {
                a = self.partition_equal(a, b, pivot);
                continue;
            }
            let (middle, already) = self.partition(a, b, pivot);
            was_partitioned = already;
            let (left, right) = (middle - a, b - middle);
            was_balanced = left.min(right) >= length / 8;
            if left < right {
                self.quick(a, middle, limit);
                a = middle + 1;
            } else {
                self.quick(middle + 1, b, limit);
                b = middle;
            }
        }
    }

    fn partition(&mut self, a: usize, b: usize, pivot: usize) -> (usize, bool) {
        self.swap(a, pivot);
        let (mut i, mut j) = (a + 1, b - 1);
        while i <= j && self.less(i, a) {
            i += 1;
        }
        while i <= j && !self.less(j, a) {
            j -= 1;
        }
        if i > j {
            self.swap(j, a);
            return (j, true);
        }
        self.swap(i, j);
        i += 1;
        j -= 1;
        loop {
            while i <= j && self.less(i, a) {
                i += 1;
            }
            while i <= j && !self.less(j, a) {
                j -= 1;
            }
            if i > j {
                break;
            }
            self.swap(i, j);
            i += 1;
            j -= 1;
        }
        self.swap(j, a);
        (j, false)
    }

    fn partition_equal(&mut self, a: usize, b: usize, pivot: usize) -> usize {
        self.swap(a, pivot);
        let (mut i, mut j) = (a + 1, b - 1);
        loop {
            while i <= j && !self.less(a, i) {
                i += 1;
            }
            while i <= j && self.less(a, j) {
                j -= 1;
            }
            if i > j {
                return i;
            }
            self.swap(i, j);
            i += 1;
            j -= 1;
        }
    }

    fn partial_insertion(&mut self, a: usize, b: usize) -> bool {
        const MAX_STEPS: usize = 5;
        const SHORTEST_SHIFTING: usize = 50;
        let mut i = a + 1;
        for _ in 0..MAX_STEPS {
            while i < b && !self.less(i, i - 1) {
                i += 1;
            }
            if i == b {
                return true;
            }
            if b - a < SHORTEST_SHIFTING {
                return false;
            }
            self.swap(i, i - 1);
            if i - a >= 2 {
                let mut j = i - 1;
                while j >= 1 && self.less(j, j - 1) {
                    self.swap(j, j - 1);
                    j -= 1;
                }
            }
            if b - i >= 2 {
                let mut j = i + 1;
                while j < b && self.less(j, j - 1) {
                    self.swap(j, j - 1);
                    j += 1;
                }
            }
        }
        false
    }

    fn break_patterns(&mut self, a: usize, b: usize) {
        let length = b - a;
        if length < 8 {
            return;
        }
        let mut random = length as u64;
        let modulus = 1_usize << (usize::BITS - length.leading_zeros());
        let index = a + (length / 4) * 2 - 1;
        for i in 0..3 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            #[expect(clippy::cast_possible_truncation, reason = "Go converts to uint the same way")]
            let mut other = (random as usize) & (modulus - 1);
            if other >= length {
                other -= length;
            }
            self.swap(index + i, a + other);
        }
    }

    fn choose_pivot(&self, start: usize, end: usize) -> (usize, Hint) {
        const SHORTEST_NINTHER: usize = 50;
        const MAX_SWAPS: usize = 4 * 3;
        let length = end - start;
        let mut swaps = 0;
        let quarter = |number: usize| start + length / 4 * number;
        let (mut first, mut middle, mut last) = (quarter(1), quarter(2), quarter(3));
        if length >= 8 {
            if length >= SHORTEST_NINTHER {
                first = self.median(first - 1, first, first + 1, &mut swaps);
                middle = self.median(middle - 1, middle, middle + 1, &mut swaps);
                last = self.median(last - 1, last, last + 1, &mut swaps);
            }
            middle = self.median(first, middle, last, &mut swaps);
        }
        match swaps {
            0 => (middle, Hint::Increasing),
            MAX_SWAPS => (middle, Hint::Decreasing),
            _ => (middle, Hint::Unknown),
        }
    }

    fn order(&self, a: usize, b: usize, swaps: &mut usize) -> (usize, usize) {
        if self.less(b, a) {
            *swaps += 1;
            return (b, a);
        }
        (a, b)
    }

    fn median(&self, a: usize, b: usize, c: usize, swaps: &mut usize) -> usize {
        let (a, b) = self.order(a, b, swaps);
        let (b, _) = self.order(b, c, swaps);
        let (_, b) = self.order(a, b, swaps);
        b
    }

    fn reverse(&mut self, a: usize, b: usize) {
        let (mut i, mut j) = (a, b - 1);
        while i < j {
            self.swap(i, j);
            i += 1;
            j -= 1;
        }
    }

    fn sift_down(&mut self, low: usize, high: usize, first: usize) {
        let mut root = low;
        loop {
            let mut child = 2 * root + 1;
            if child >= high {
                return;
            }
            if child + 1 < high && self.less(first + child, first + child + 1) {
                child += 1;
            }
            if !self.less(first + root, first + child) {
                return;
            }
            self.swap(first + root, first + child);
            root = child;
        }
    }

    fn heap(&mut self, a: usize, b: usize) {
        let high = b - a;
        for i in (0..=(high - 1) / 2).rev() {
            self.sift_down(i, high, a);
        }
        for i in (0..high).rev() {
            self.swap(a, a + i);
            self.sift_down(0, i, a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_equal_items_in_a_short_list() {
        let mut list: Vec<(u32, u32)> = (0..12).map(|n| (n % 3, n)).collect();
        let mut expected = list.clone();
        expected.sort_by_key(|(key, _)| *key);
        sort_slice(&mut list, |a, b| a.0 < b.0);
        assert_eq!(list, expected);
    }

    #[test]
    fn sorts_long_lists_of_every_shape() {
        for length in [13_u64, 49, 50, 51, 1_000] {
            for shape in 0..4_u64 {
                let mut list: Vec<u64> = (0..length)
                    .map(|n| match shape {
                        0 => n,
                        1 => length - n,
                        2 => n * 7919 % 101,
                        _ => n % 2,
                    })
                    .collect();
                let mut expected = list.clone();
                expected.sort_unstable();
                sort_slice(&mut list, |a, b| a < b);
                assert_eq!(list, expected, "{length} {shape}");
            }
        }
    }
}
