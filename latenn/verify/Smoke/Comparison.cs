using System;
using System.Collections.Generic;
using System.Linq;
using System.Numerics;
using Latenn;

namespace Smoke
{
    /// <summary>
    /// ONNX's own comparison (onnx.backend.test.runner, assert_similar_outputs): equal type and shape; floating point
    /// |actual - expected| ≤ atol + rtol·|expected|, NaN equal to NaN. Stricter than ONNX's for whole numbers, which
    /// must be equal.
    /// </summary>
    internal sealed class Comparison
    {
        private readonly double _relative;
        private readonly double _absolute;

        public Comparison(double relative, double absolute)
        {
            _relative = relative;
            _absolute = absolute;
        }

        /// <summary>Null when equal, else what differs first.</summary>
        public string? Difference(Tensor actual, Tensor expected)
        {
            if (actual.ElementType != expected.ElementType || !actual.Shape.SequenceEqual(expected.Shape))
                return $"{actual} instead of {expected}";
            if (actual.ElementType == ElementType.String)
                return Exact(actual.GetData<string>(), expected.GetData<string>());
            double[]? want = Numbers.Decode(expected);
            if (want == null)
                return Exact(actual.ToBytes(), expected.ToBytes());
            double[] got = Numbers.Decode(actual)!;
            bool complex = expected.ElementType == ElementType.Complex64 || expected.ElementType == ElementType.Complex128;
            for (int i = 0; i < want.Length; i++)
            {
                bool near = complex ? NearComplex(got, want, i & ~1) : Near(got[i], want[i]);
                if (!near)
                    return $"element {(complex ? i / 2 : i)} is {got[i]:R} instead of {want[i]:R}";
            }
            return null;
        }

        /// <summary>The distance of two finite complex numbers; with a part that is not finite, part by part.</summary>
        private bool NearComplex(double[] got, double[] want, int at)
        {
            var actual = new Complex(got[at], got[at + 1]);
            var expected = new Complex(want[at], want[at + 1]);
            double limit = _absolute + _relative * Complex.Abs(expected);
            double distance = Complex.Abs(actual - expected);
            return distance <= double.MaxValue && limit <= double.MaxValue
                ? distance <= limit
                : Near(got[at], want[at]) && Near(got[at + 1], want[at + 1]);
        }

        private bool Near(double got, double want)
        {
            if (double.IsNaN(want) || double.IsNaN(got))
                return double.IsNaN(want) && double.IsNaN(got);
            if (double.IsInfinity(want) || double.IsInfinity(got))
                return want.Equals(got);
            return Math.Abs(got - want) <= _absolute + _relative * Math.Abs(want);
        }

        private static string? Exact<T>(T[] got, T[] want)
        {
            for (int i = 0; i < want.Length; i++)
            {
                if (!EqualityComparer<T>.Default.Equals(got[i], want[i]))
                    return $"position {i} is {got[i]} instead of {want[i]}";
            }
            return null;
        }
    }
}
