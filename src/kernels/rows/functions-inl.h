// Value and slope of each activation in float32, once for every instruction set (Highway's pattern).
#if defined(BLOCKZOO_KERNELS_ROWS_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BLOCKZOO_KERNELS_ROWS_FUNCTIONS_INL_H_
#undef BLOCKZOO_KERNELS_ROWS_FUNCTIONS_INL_H_
#else
#define BLOCKZOO_KERNELS_ROWS_FUNCTIONS_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include "kernels/rows/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

/// The larger and the smaller of both, and NaN where x is NaN, which Max and Min of some instruction sets pass over.
HWY_INLINE Vector at_least(Vector least, Vector x) { return hn::IfThenElse(hn::Lt(x, least), least, x); }
HWY_INLINE Vector at_most(Vector most, Vector x) { return hn::IfThenElse(hn::Gt(x, most), most, x); }

struct ValueAndSlope {
  Vector value, slope;
};

/// Highway's makes NaN zero, which would hide a divergence.
HWY_INLINE Vector exp_of(Vector x) { return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(Floats(), x)); }

/// The same of tanh.
HWY_INLINE Vector tanh_of(Vector x) { return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(Floats(), x)); }

/// exp(x) for x <= 0 with half of exp_of's operations: zero below -86, where nothing is left beside a weight of 1; NaN
/// stays NaN. x = n ln 2 + r, exp(r) by the polynomial with the least largest error (2e-9) over |r| <= ln 2 / 2, and n
/// into the exponent.
HWY_INLINE Vector exp_of_negative(Vector x) {
  const hn::RebindToSigned<Floats> integers;
  const auto least = all(-86), magic = all(12582912.0F);  // 1.5 * 2^23 rounds what is added to it
  const auto bounded = at_least(least, x);
  const auto shifted = hn::MulAdd(bounded, all(1.44269504F), magic), n = hn::Sub(shifted, magic);
  const auto r = hn::NegMulAdd(n, all(-2.12194440e-4F), hn::NegMulAdd(n, all(0.693359375F), bounded));
  auto power = all(0.0013836742145940661F);
  for (const float c :
       {0.008374898694455624F, 0.041668232530355453F, 0.16666419804096222F, 0.49999991059303284F, 1.0F, 1.0F})
    power = hn::MulAdd(power, r, all(c));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(integers, shifted));
  const auto value = hn::BitCast(Floats(), hn::Add(hn::BitCast(integers, power), exponent));
  return hn::IfThenElse(hn::Lt(x, least), hn::Zero(Floats()), value);
}

/// 1 / (1 + exp(-x)); beyond 88 exp would leave float32.
HWY_INLINE Vector sigmoid_of(Vector x) {
  const auto one = all(1);
  return hn::Div(one, hn::Add(one, exp_of(at_most(all(88), hn::Neg(x)))));
}

/// The same in half the time, to 2^-15 of its value or better, for what is rounded to bfloat16.
HWY_INLINE Vector rough_sigmoid_of(Vector x) {
  const auto e = exp_of_negative(hn::Neg(hn::Abs(x)));
  const auto divisor = hn::Add(all(1), e);
  auto inverse = hn::ApproximateReciprocal(divisor);
  inverse = hn::Mul(inverse, hn::NegMulAdd(divisor, inverse, all(2)));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(Floats())), hn::Mul(e, inverse), inverse);
}

/// As exactly as numbers of type T ask for.
template <class T>
HWY_INLINE Vector sigmoid_for(Vector x) {
  return sizeof(T) == sizeof(float) ? sigmoid_of(x) : rough_sigmoid_of(x);
}

/// erf by the rational function of Eigen (largest error 3e-7 of its value), odd by construction.
HWY_INLINE Vector erf_of(Vector x) {
  x = hn::Clamp(x, all(-4), all(4));
  const auto squared = hn::Mul(x, x);
  auto top = all(-2.72614225801306e-10F);
  for (const float c : {2.77068142495902e-08F, -2.10102402082508e-06F, -5.69250639462346e-05F, -7.34990630326855e-04F,
                        -2.95459980854025e-03F, -1.60960333262415e-02F})
    top = hn::MulAdd(top, squared, all(c));
  auto bottom = all(-1.45660718464996e-05F);
  for (const float c : {-2.13374055278905e-04F, -1.68282697438203e-03F, -7.37332916720468e-03F, -1.42647390514189e-02F})
    bottom = hn::MulAdd(bottom, squared, all(c));
  return hn::Div(hn::Mul(x, top), bottom);
}

HWY_INLINE Vector where_positive(Vector x, Vector yes, Vector no) {
  return hn::IfThenElse(hn::Gt(x, hn::Zero(Floats())), yes, no);
}

struct Identity {
  template <class T>
  static HWY_INLINE ValueAndSlope at(Vector x) {
    return {x, all(1)};
  }
};

struct Relu {
  template <class T>
  static HWY_INLINE ValueAndSlope at(Vector x) {
    const auto zero = hn::Zero(Floats());
    return {where_positive(x, x, hn::IfThenElse(hn::IsNaN(x), x, zero)), where_positive(x, all(1), zero)};
  }
};

struct ReluSquared {
  template <class T>
  static HWY_INLINE ValueAndSlope at(Vector x) {
    const auto value = Relu::at<T>(x).value;
    return {hn::Mul(value, value), hn::Add(value, value)};
  }
};

struct Sigmoid {
  template <class T>
  static HWY_INLINE ValueAndSlope at(Vector x) {
    const auto s = sigmoid_for<T>(x);
    return {s, hn::NegMulAdd(s, s, s)};
  }
};

struct Silu {
  template <class T>
  static HWY_INLINE ValueAndSlope at(Vector x) {
    const auto s = sigmoid_for<T>(x);
    return {hn::Mul(x, s), hn::MulAdd(hn::Mul(x, s), hn::Sub(all(1), s), s)};
  }
};

/// 0.5 (1 + tanh(u)) is sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3).
struct GeluTanh {
  template <class T>
  static HWY_INLINE ValueAndSlope at(Vector x) {
    const auto twice = all(1.5957691216057308F), cubic = all(0.044715F);
    const auto squared = hn::Mul(x, x);
    const auto s = sigmoid_for<T>(hn::Mul(hn::Mul(twice, x), hn::MulAdd(cubic, squared, all(1))));
    const auto inner = hn::Mul(twice, hn::MulAdd(all(3 * 0.044715F), squared, all(1)));
    return {hn::Mul(x, s), hn::MulAdd(hn::Mul(hn::Mul(x, s), hn::Sub(all(1), s)), inner, s)};
  }
};

struct Gelu {
  template <class T>
  static HWY_INLINE ValueAndSlope at(Vector x) {
    const auto half = all(0.5F);
    const auto below = hn::MulAdd(half, erf_of(hn::Mul(x, all(0.70710678118654752F))), half);  // Phi(x)
    const auto density = hn::Mul(all(0.39894228040143268F), exp_of(hn::Mul(all(-0.5F), hn::Mul(x, x))));
    return {hn::Mul(x, below), hn::MulAdd(x, density, below)};
  }
};

struct Elu {
  template <class T>
  static HWY_INLINE ValueAndSlope at(Vector x) {
    const auto below = hn::Expm1(Floats(), at_most(hn::Zero(Floats()), x));
    return {where_positive(x, x, below), where_positive(x, all(1), hn::Add(below, all(1)))};
  }
};

struct Selu {
  template <class T>
  static HWY_INLINE ValueAndSlope at(Vector x) {
    const auto scale = all(1.0507009873554805F), below_scale = all(1.0507009873554805F * 1.6732632423543772F);
    const auto below = hn::Mul(below_scale, hn::Expm1(Floats(), at_most(hn::Zero(Floats()), x)));
    return {where_positive(x, hn::Mul(scale, x), below), where_positive(x, scale, hn::Add(below, below_scale))};
  }
};

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
