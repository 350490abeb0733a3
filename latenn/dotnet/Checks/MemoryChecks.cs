#if LATENN_MEMORY
using System;
using System.Buffers;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Text;
using Latenn;

namespace Checks
{
    /// <summary>Span and Memory: what is held is looked at where it lies, pinned for a run and no longer.</summary>
    internal static class MemoryChecks
    {
        public static void MemoryOfEveryTypeComesBack()
        {
            Comes(new float[] { 1, 2 }, ElementType.Float32);
            Comes(new double[] { 1, 2 }, ElementType.Float64);
            Comes(new sbyte[] { -1, 2 }, ElementType.Int8);
            Comes(new byte[] { 1, 2 }, ElementType.UInt8);
            Comes(new short[] { -1, 2 }, ElementType.Int16);
            Comes(new ushort[] { 1, 2 }, ElementType.UInt16);
            Comes(new int[] { -1, 2 }, ElementType.Int32);
            Comes(new uint[] { 1, 2 }, ElementType.UInt32);
            Comes(new long[] { -1, 2 }, ElementType.Int64);
            Comes(new ulong[] { 1, 2 }, ElementType.UInt64);
            Comes(new bool[] { true, false }, ElementType.Bool);
        }

        public static void APartOfAnArrayOfMemoryIsHeldAndNotCopied()
        {
            var array = new float[] { 0, 1, 2, 3 };
            Tensor tensor = Tensor.Create(array.AsMemory(1, 2), 2);
            Expect.Equal(true, Unsafe.AreSame(ref array[1], ref Unsafe.AsRef(in tensor.GetSpan<float>()[0])));
            array[1] = 9;
            Expect.Same(new float[] { 9, 2 }, Run(tensor).GetData<float>());
            Expect.Same(new float[] { 9, 2 }, tensor.GetData<float>());
        }

        public static void MemoryOfAnArrayTensorIsTheArray()
        {
            var array = new long[] { 5, 6 };
            Expect.Equal(true, Unsafe.AreSame(ref array[0], ref Unsafe.AsRef(in Tensor.Create(array, 2).GetMemory<long>().Span[0])));
        }

        public static void MemoryIsPinnedForTheRunAlone()
        {
            using var pinned = new Counted(new float[] { 1, 2, 3 });
            Tensor tensor = Tensor.Create((ReadOnlyMemory<float>)pinned.Memory, 3);
            Expect.Equal(0, pinned.Pins);
            Expect.Same(new float[] { 1, 2, 3 }, Run(tensor).GetData<float>());
            Expect.Equal("1 pin, 1 unpin", $"{pinned.Pins} pin, {pinned.Unpins} unpin");
            Expect.Throws<LatennException>(() => Run(tensor, "ok {}\nx 7"));
            Expect.Equal(pinned.Pins, pinned.Unpins);
        }

        public static void EmptyMemoryHasAnAddressForC() => Expect.Equal(0L, Run(Tensor.Create(Memory<float>.Empty, 0), "ok {}\nx 1 n").Count);

        public static void MemoryOfRawBytesIsForTypesWithoutACounterpart()
        {
            Tensor tensor = Tensor.Create(ElementType.Float16, new byte[] { 0, 60, 0, 64 }, 2);
            Expect.Same(new byte[] { 0, 60, 0, 64 }, Run(tensor, "ok {}\nx 10 2").GetData<byte>());
            Expect.Throws<ArgumentException>(() => Tensor.Create(ElementType.Float32, new byte[4], 1));
            Expect.Throws<ArgumentException>(() => Tensor.Create(ElementType.String, new byte[4], 1));
        }

        public static void MemoryOfAWrongLengthOrTypeIsRefused()
        {
            Expect.Contains("needs an array of 6", Expect.Throws<ArgumentException>(() => Tensor.Create(new float[5].AsMemory(), 2, 3)).Message);
            Expect.Contains("Char", Expect.Throws<ArgumentException>(() => Tensor.Create("ab".AsMemory(), 2)).Message);
            Expect.Contains("ask for Single", Expect.Throws<InvalidOperationException>(() => Tensor.Create(new float[1], 1).GetMemory<int>()).Message);
        }

        public static void AModelAndMemoryOfBytesComeFromSpans()
        {
            ReadOnlySpan<byte> bytes = stackalloc byte[] { 1, 0, 0, 0 };
            Expect.Same(new[] { 1 }, Tensor.FromBytes(ElementType.Int32, bytes, 1).GetData<int>());
            ReadOnlySpan<byte> model = Encoding.UTF8.GetBytes("ok {}\nx 1");
            using Model loaded = Model.Load(model);
            Expect.Equal("x", loaded.Inputs[0].Name);
            Expect.Throws<LatennException>(() => Model.Load(ReadOnlySpan<byte>.Empty).Dispose());
        }

        public static void OutputsAreSeenInTheMemoryOfTheRuntime()
        {
            var input = new float[] { 1, 2 };
            using Model model = Model.Load(Encoding.UTF8.GetBytes("ok {}\nx 1 2\nflag 9 1"));
            var inputs = new Dictionary<string, Tensor> { ["x"] = Tensor.Create(input.AsMemory(), 2), ["flag"] = Tensor.Create(new[] { true }, 1) };
            var seen = new float[2];
            int calls = 0;
            model.Run(inputs, outputs =>
            {
                calls++;
                outputs.GetSpan<float>("x").CopyTo(seen);
                Expect.Equal(2L, outputs.GetShape("x")[0]);
                Expect.Equal(ElementType.Bool, outputs.GetElementType("flag"));
                Expect.Equal((byte)1, outputs.GetSpan<byte>("flag")[0]);
            });
            Expect.Equal(1, calls);
            Expect.Same(input, seen);
            Expect.Contains("ask for Single", Expect.Throws<InvalidOperationException>(() => model.Run(inputs, outputs => outputs.GetSpan<int>("x"))).Message);
            Expect.Contains("no output 'y'", Expect.Throws<KeyNotFoundException>(() => model.Run(inputs, outputs => outputs.GetShape("y"))).Message);
        }

        private static void Comes<T>(T[] array, ElementType type)
            where T : unmanaged
        {
            Tensor tensor = Tensor.Create(array.AsMemory(), array.Length);
            Expect.Equal(type, tensor.ElementType);
            Expect.Same(array, Run(tensor, $"ok {{}}\nx {(int)type} n").GetData<T>());
            Expect.Same(Tensor.Create((ReadOnlyMemory<T>)array, array.Length).ToBytes(), tensor.ToBytes());
        }

        private static Tensor Run(Tensor tensor, string model = "ok {}\nx 1 n")
        {
            using Model loaded = Model.Load(Encoding.UTF8.GetBytes(model));
            return loaded.Run(new Dictionary<string, Tensor> { ["x"] = tensor })["x"];
        }

        /// <summary>Memory that counts how often it is pinned.</summary>
        private sealed class Counted : MemoryManager<float>
        {
            private readonly Memory<float> _memory;
            private MemoryHandle _handle;

            public Counted(float[] array) => _memory = array;

            public int Pins { get; private set; }

            public int Unpins { get; private set; }

            public override Span<float> GetSpan() => _memory.Span;

            public override unsafe MemoryHandle Pin(int elementIndex = 0)
            {
                Pins++;
                _handle = _memory.Slice(elementIndex).Pin();
                return new MemoryHandle(_handle.Pointer, default, this);
            }

            public override void Unpin()
            {
                Unpins++;
                _handle.Dispose();
            }

            protected override void Dispose(bool disposing)
            {
            }
        }
    }
}
#endif
