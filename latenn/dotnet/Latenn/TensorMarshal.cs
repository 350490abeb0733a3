using System;
using System.Runtime.InteropServices;

namespace Latenn
{
    /// <summary>Tensors to and from <c>latenn_tensor</c>; it calls nothing in the native library.</summary>
    internal static class TensorMarshal
    {
        /// <summary>A view of a tensor, good until the arena is disposed. Numbers are pinned, not copied.</summary>
        public static Native.TensorView ToNative(Tensor tensor, Arena arena)
        {
            var view = new Native.TensorView
            {
                Type = (int)tensor.ElementType,
                Rank = tensor.RawShape.Length,
                Shape = arena.Pin(tensor.RawShape),
            };
            switch (tensor.ElementType)
            {
                case ElementType.String:
                    WriteTexts(tensor.GetData<string>(), arena, ref view);
                    break;
                case ElementType.Bool:
                    byte[] truths = tensor.ToBytes();
                    view.Data = arena.Pin(truths);
                    view.Bytes = new UIntPtr((ulong)truths.LongLength);
                    break;
                default:
                    view.Data = tensor.Pin(arena);
                    view.Bytes = new UIntPtr((ulong)ElementTypes.Bytes(tensor.ElementType, tensor.Count));
                    break;
            }
            return view;
        }

        /// <summary>A tensor that owns a copy of what a view shows.</summary>
        /// <exception cref="LatennException">The type is one that this version of the binding does not know.</exception>
        public static unsafe Tensor FromNative(in Native.TensorView view)
        {
            var shape = new long[view.Rank];
            if (view.Rank > 0)
                Marshal.Copy(view.Shape, shape, 0, view.Rank);
            var type = (ElementType)view.Type;
            if (type == ElementType.String)
                return Tensor.Create(ReadTexts(view, shape), shape);
            if (ElementTypes.Bits(type) == 0)
                throw new LatennException(LatennCode.Unsupported, $"The model gives a tensor of the element type {view.Type}, which this version of Latenn does not know.");
            return Tensor.FromMemory(type, (byte*)view.Data, checked((long)view.Bytes.ToUInt64()), shape);
        }

        private static unsafe void WriteTexts(string[] texts, Arena arena, ref Native.TensorView view)
        {
            UIntPtr* offsets = (UIntPtr*)arena.Allocate(checked((texts.LongLength + 1) * IntPtr.Size));
            var encoded = new byte[texts.LongLength][];
            long total = 0;
            for (long i = 0; i < texts.LongLength; i++)
            {
                if (texts[i] == null)
                    throw new ArgumentException($"Element {i} of a tensor of texts is null.");
                encoded[i] = Utf8.Strict.GetBytes(texts[i]);
                offsets[i] = new UIntPtr((ulong)total);
                total += encoded[i].LongLength;
            }
            offsets[texts.LongLength] = new UIntPtr((ulong)total);
            byte* data = (byte*)arena.Allocate(total);
            for (long i = 0; i < encoded.LongLength; i++)
                Marshal.Copy(encoded[i], 0, (IntPtr)(data + offsets[i].ToUInt64()), encoded[i].Length);
            view.Data = (IntPtr)data;
            view.Bytes = new UIntPtr((ulong)total);
            view.Offsets = (IntPtr)offsets;
        }

        private static unsafe string[] ReadTexts(in Native.TensorView view, long[] shape)
        {
            long count = 1;
            foreach (long dimension in shape)
                count = checked(count * dimension);
            var texts = new string[count];
            var offsets = (UIntPtr*)view.Offsets;
            for (long i = 0; i < count; i++)
            {
                ulong start = offsets[i].ToUInt64();
                ulong end = offsets[i + 1].ToUInt64();
                texts[i] = Utf8.Read((byte*)view.Data + start, checked((int)(end - start)));
            }
            return texts;
        }
    }
}
