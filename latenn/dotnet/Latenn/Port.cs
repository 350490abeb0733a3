using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Latenn
{
    /// <summary>An input or an output of a model.</summary>
    public sealed class Port
    {
        private Port(string name, ElementType type, int rank, long[] shape, string[] dimensions)
        {
            Name = name;
            ElementType = type;
            Rank = rank;
            Shape = Array.AsReadOnly(shape);
            Dimensions = Array.AsReadOnly(dimensions);
        }

        /// <summary>The name in the model.</summary>
        public string Name { get; }

        /// <summary>The type of the elements.</summary>
        public ElementType ElementType { get; }

        /// <summary>The number of dimensions; -1 where the model leaves even that open, or the runtime cannot tell.</summary>
        public int Rank { get; }

        /// <summary>The dimensions, -1 where the model leaves one open; empty when <see cref="Rank"/> is 0 or open.</summary>
        public IReadOnlyList<long> Shape { get; }

        /// <summary>The model's names of the open dimensions, "" for one without a name; as long as <see cref="Shape"/>.</summary>
        public IReadOnlyList<string> Dimensions { get; }

        internal static Port FromNative(IntPtr address)
        {
            var view = Marshal.PtrToStructure<Native.PortView>(address);
            var shape = new long[Math.Max(view.Rank, 0)];
            var dimensions = new string[shape.Length];
            if (view.Rank > 0)
                Marshal.Copy(view.Shape, shape, 0, view.Rank);
            for (int i = 0; i < view.Rank; i++)
                dimensions[i] = view.Dimensions == IntPtr.Zero ? "" : Utf8.Read(Marshal.ReadIntPtr(view.Dimensions, i * IntPtr.Size));
            return new Port(Utf8.Read(view.Name), (ElementType)view.Type, view.Rank, shape, dimensions);
        }

        /// <summary>Name, type and shape, for messages.</summary>
        public override string ToString() => $"{Name}: {ElementType}[{(Rank < 0 ? "..." : string.Join(", ", Shape))}]";
    }
}
