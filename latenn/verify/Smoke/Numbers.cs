using System;
using Latenn;

namespace Smoke
{
    /// <summary>Floating point elements as doubles; complex numbers give two each.</summary>
    internal static class Numbers
    {
        /// <summary>Null for a type that is compared exactly.</summary>
        public static double[]? Decode(Tensor tensor)
        {
            switch (tensor.ElementType)
            {
                case ElementType.Float32:
                    return Array.ConvertAll(tensor.GetData<float>(), value => (double)value);
                case ElementType.Float64:
                    return tensor.GetData<double>();
                case ElementType.Float16:
                    return Each(tensor, 2, (bytes, at) => Half(BitConverter.ToUInt16(bytes, at)));
                case ElementType.BFloat16:
                    return Each(tensor, 2, (bytes, at) => BitConverter.ToSingle(new byte[] { 0, 0, bytes[at], bytes[at + 1] }, 0));
                case ElementType.Complex64:
                    return Each(tensor, 4, (bytes, at) => BitConverter.ToSingle(bytes, at));
                case ElementType.Complex128:
                    return Each(tensor, 8, (bytes, at) => BitConverter.ToDouble(bytes, at));
                case ElementType.Float8E4M3FN:
                    return Each(tensor, 1, (bytes, at) => (bytes[at] & 0x7f) == 0x7f ? double.NaN : Float8(bytes[at], 3, 7));
                case ElementType.Float8E4M3FNUZ:
                    return Each(tensor, 1, (bytes, at) => bytes[at] == 0x80 ? double.NaN : Float8(bytes[at], 3, 8));
                case ElementType.Float8E5M2:
                    return Each(tensor, 1, (bytes, at) => Half((ushort)(bytes[at] << 8)));
                case ElementType.Float8E5M2FNUZ:
                    return Each(tensor, 1, (bytes, at) => bytes[at] == 0x80 ? double.NaN : Float8(bytes[at], 2, 16));
                default:
                    return null;
            }
        }

        private static double[] Each(Tensor tensor, int size, Func<byte[], int, double> read)
        {
            byte[] bytes = tensor.GetData<byte>();
            var numbers = new double[bytes.Length / size];
            for (int i = 0; i < numbers.Length; i++)
                numbers[i] = read(bytes, i * size);
            return numbers;
        }

        /// <summary>Eight bits without infinities (ONNX's technical page "Float stored in 8 bits").</summary>
        private static double Float8(byte bits, int fractionBits, int bias)
        {
            int sign = (bits & 0x80) != 0 ? -1 : 1;
            int exponent = (bits & 0x7f) >> fractionBits;
            double fraction = (bits & ((1 << fractionBits) - 1)) / (double)(1 << fractionBits);
            return exponent == 0
                ? sign * fraction * Math.Pow(2, 1 - bias)
                : sign * (1 + fraction) * Math.Pow(2, exponent - bias);
        }

        /// <summary>IEEE 754 binary16.</summary>
        private static double Half(ushort bits)
        {
            int sign = (bits & 0x8000) != 0 ? -1 : 1;
            int exponent = (bits >> 10) & 0x1f;
            int fraction = bits & 0x3ff;
            if (exponent == 0x1f)
                return fraction != 0 ? double.NaN : sign * double.PositiveInfinity;
            return exponent == 0
                ? sign * fraction * Math.Pow(2, -24)
                : sign * (1 + fraction / 1024.0) * Math.Pow(2, exponent - 15);
        }
    }
}
