using System;
using System.Linq;
using Latenn;

namespace Checks
{
    /// <summary>Tensors by themselves; no native code.</summary>
    internal static class TensorChecks
    {
        private static readonly ElementType[] WithBytes =
            Enum.GetValues(typeof(ElementType)).Cast<ElementType>().Where(type => type != ElementType.Undefined && type != ElementType.String).ToArray();

        public static void BytesOfEveryTypeComeBack()
        {
            foreach (ElementType type in WithBytes)
            {
                byte[] bytes = Sample(type, 6);
                Tensor tensor = Tensor.FromBytes(type, bytes, 2, 3);
                Expect.Equal(type, tensor.ElementType);
                Expect.Same(bytes, tensor.ToBytes());
            }
        }

        public static void ScalarsAndEmptyTensorsHaveOneAndNoElement()
        {
            Expect.Equal(1L, Tensor.Create(new[] { 1f }).Count);
            Expect.Equal(0L, Tensor.Create(new float[0], 3, 0).Count);
            Expect.Equal(0, Tensor.FromBytes(ElementType.Int4, new byte[0], 0).ToBytes().Length);
        }

        public static void HalfBytesAreRoundedUp() => Expect.Equal(2, Tensor.FromBytes(ElementType.Int4, new byte[2], 3).ToBytes().Length);

        public static void AWrongLengthIsRefused()
        {
            Expect.Contains("needs an array of 6", Expect.Throws<ArgumentException>(() => Tensor.Create(new float[5], 2, 3)).Message);
            Expect.Contains("has 24 bytes, and 23 were given", Expect.Throws<ArgumentException>(() => Tensor.FromBytes(ElementType.Float32, new byte[23], 2, 3)).Message);
        }

        public static void ANegativeOrHugeShapeIsRefused()
        {
            Expect.Contains("negative", Expect.Throws<ArgumentException>(() => Tensor.Create(new float[1], -1)).Message);
            Expect.Throws<ArgumentException>(() => Tensor.Create(new float[1], long.MaxValue, 2));
            Expect.Throws<OverflowException>(() => Tensor.FromBytes(ElementType.Float32, new byte[1], long.MaxValue));
        }

        public static void DataIsAskedForByItsOwnType()
        {
            Tensor tensor = Tensor.Create(new uint[] { 1, 2 }, 2);
            Expect.Same(new uint[] { 1, 2 }, tensor.GetData<uint>());
            Expect.Contains("ask for UInt32, not for Int32", Expect.Throws<InvalidOperationException>(() => tensor.GetData<int>()).Message);
        }

        public static void TextsHaveNoBytesAndNoNull()
        {
            Expect.Throws<InvalidOperationException>(() => Tensor.Create(new[] { "a" }, 1).ToBytes());
            Expect.Throws<ArgumentException>(() => Tensor.Create(new[] { "a", null! }, 2));
            Expect.Throws<ArgumentException>(() => Tensor.FromBytes(ElementType.String, new byte[1], 1));
        }

        public static void TheShapeIsACopy()
        {
            var shape = new long[] { 2 };
            Tensor tensor = Tensor.Create(new float[2], shape);
            shape[0] = 7;
            Expect.Same(new long[] { 2 }, tensor.Shape);
        }

        /// <summary>Different bytes for every position; truth values are 0 or 1.</summary>
        internal static byte[] Sample(ElementType type, int count)
        {
            int bits = type switch
            {
                ElementType.Int4 => 4, ElementType.UInt4 => 4,
                ElementType.Float16 => 16, ElementType.BFloat16 => 16, ElementType.Int16 => 16, ElementType.UInt16 => 16,
                ElementType.Float32 => 32, ElementType.Int32 => 32, ElementType.UInt32 => 32,
                ElementType.Float64 => 64, ElementType.Int64 => 64, ElementType.UInt64 => 64, ElementType.Complex64 => 64,
                ElementType.Complex128 => 128,
                _ => 8,
            };
            return Enumerable.Range(0, count * bits / 8).Select(i => (byte)(type == ElementType.Bool ? i % 2 : i * 37 + 11)).ToArray();
        }
    }
}
