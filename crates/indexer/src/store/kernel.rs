//! Inner products, as wide as the processor allows.

/// Inner product of two int8 vectors of the same length.
pub(crate) fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        return avx2_i8(a, b);
    }
    plain_i8(a, b)
}

/// Inner product of an int8 vector and an f32 vector of the same length; the same result on every processor.
pub(crate) fn dot_mixed(a: &[i8], b: &[f32]) -> f32 {
    // Sixteen running sums can be kept in whole registers without reordering any sum.
    let mut sums = [0.0_f32; 16];
    let ((a_parts, a_rest), (b_parts, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let rest: f32 = a_rest
        .iter()
        .zip(b_rest)
        .map(|(x, y)| f32::from(*x) * y)
        .sum();
    for (x, y) in a_parts.iter().zip(b_parts) {
        for lane in 0..16 {
            sums[lane] += f32::from(x[lane]) * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[inline(always)]
fn plain_i8(a: &[i8], b: &[i8]) -> i32 {
    let products = a.iter().zip(b);
    products
        .map(|(&x, &y)| i32::from(i16::from(x) * i16::from(y)))
        .sum()
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "calling a function compiled for AVX2; the caller has asked the processor for it"
)]
fn avx2_i8(a: &[i8], b: &[i8]) -> i32 {
    #[target_feature(enable = "avx2")]
    fn wide(a: &[i8], b: &[i8]) -> i32 {
        plain_i8(a, b)
    }
    // SAFETY: reached from `dot_i8` only, after `has_avx2`.
    unsafe { wide(a, b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_the_definition() {
        let a: Vec<i8> = (0..301).map(|i| (i % 255 - 127) as i8).collect();
        let b: Vec<i8> = (0..301).map(|i| (i * 7 % 255 - 127) as i8).collect();
        let products = a.iter().zip(&b).map(|(&x, &y)| i32::from(x) * i32::from(y));
        let expect: i32 = products.sum();
        assert_eq!(dot_i8(&a, &b), expect);
        assert_eq!(plain_i8(&a, &b), expect);
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            assert_eq!(avx2_i8(&a, &b), expect);
        }
        let y: Vec<f32> = b.iter().map(|&v| f32::from(v)).collect();
        assert!((dot_mixed(&a, &y) - expect as f32).abs() <= expect.abs() as f32 * 1e-5);
    }
}
