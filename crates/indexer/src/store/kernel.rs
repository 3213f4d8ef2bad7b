//! Inner products, as wide as the processor allows.

/// Inner product of two int8 vectors of the same length.
pub(crate) fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if has_vnni() {
        return vnni_i8(a, b);
    } else if has_avx2() {
        return avx2_i8(a, b);
    }
    plain_i8(a, b)
}

/// Inner product of two f32 vectors of the same length; the same result on every processor.
pub(crate) fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        return avx2_f32(a, b);
    }
    plain_f32(a, b)
}

#[inline(always)]
fn plain_f32(a: &[f32], b: &[f32]) -> f32 {
    // Sixteen running sums can be kept in whole registers without reordering any sum.
    let mut sums = [0.0_f32; 16];
    let ((a_parts, a_rest), (b_parts, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    for (x, y) in a_parts.iter().zip(b_parts) {
        for lane in 0..16 {
            sums[lane] += x[lane] * y[lane];
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

/// Takes a tenth of the time of the plain form, because the compiler does not vectorize the plain form.
#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "loads from an array and stores to one, both of sixteen numbers, and a call of a function compiled for AVX2; the caller has \
              asked the processor for it"
)]
fn avx2_f32(a: &[f32], b: &[f32]) -> f32 {
    use std::arch::x86_64::{
        _mm256_add_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_setzero_ps, _mm256_storeu_ps,
    };
    #[target_feature(enable = "avx2")]
    fn wide(a: &[f32], b: &[f32]) -> f32 {
        let ((a_parts, a_rest), (b_parts, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
        let rest = plain_f32(a_rest, b_rest);
        let mut sums = [_mm256_setzero_ps(); 2];
        for (a, b) in a_parts.iter().zip(b_parts) {
            for (half, sum) in sums.iter_mut().enumerate() {
                // SAFETY: a part has 16 numbers, so 8 can be read from its start and from its middle.
                let load =
                    |part: &[f32; 16]| unsafe { _mm256_loadu_ps(part.as_ptr().add(8 * half)) };
                *sum = _mm256_add_ps(*sum, _mm256_mul_ps(load(a), load(b)));
            }
        }
        let mut lanes = [0.0_f32; 16];
        for (half, sum) in sums.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { _mm256_storeu_ps(lanes.as_mut_ptr().add(8 * half), sum) };
        }
        lanes.iter().sum::<f32>() + rest
    }
    // SAFETY: reached from `dot_f32` only, after `has_avx2`.
    unsafe { wide(a, b) }
}

#[cfg(target_arch = "x86_64")]
fn has_vnni() -> bool {
    std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vnni")
}

/// Takes half the time of the AVX2 form: the compiler does not find the multiply-add instruction by itself.
#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "loads from a slice whose length is known, and a call of a function compiled for AVX-512; the caller has asked the \
              processor for it"
)]
fn vnni_i8(a: &[i8], b: &[i8]) -> i32 {
    use std::arch::x86_64::{
        __m256i, _mm256_loadu_si256, _mm512_add_epi32, _mm512_cvtepi8_epi16, _mm512_dpwssd_epi32,
        _mm512_reduce_add_epi32, _mm512_setzero_si512,
    };
    #[target_feature(enable = "avx512bw,avx512vnni")]
    fn wide(a: &[i8], b: &[i8]) -> i32 {
        let mut sums = [_mm512_setzero_si512(); 2];
        let (a_parts, b_parts) = (a.chunks_exact(64), b.chunks_exact(64));
        let rest = plain_i8(a_parts.remainder(), b_parts.remainder());
        for (a, b) in a_parts.zip(b_parts) {
            for (half, sum) in sums.iter_mut().enumerate() {
                let load = |part: &[i8]| {
                    // SAFETY: a part has 64 bytes, so 32 can be read from its start and from its middle.
                    let bytes = unsafe {
                        _mm256_loadu_si256(part.as_ptr().add(32 * half).cast::<__m256i>())
                    };
                    _mm512_cvtepi8_epi16(bytes)
                };
                *sum = _mm512_dpwssd_epi32(*sum, load(a), load(b));
            }
        }
        _mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1])) + rest
    }
    // SAFETY: reached from `dot_i8` only, after `has_vnni`.
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
        let x: Vec<f32> = a.iter().map(|&v| f32::from(v)).collect();
        let y: Vec<f32> = b.iter().map(|&v| f32::from(v)).collect();
        assert_eq!(dot_f32(&x, &y), plain_f32(&x, &y));
        assert!((dot_f32(&x, &y) - expect as f32).abs() <= expect.abs() as f32 * 1e-5);
    }
}
