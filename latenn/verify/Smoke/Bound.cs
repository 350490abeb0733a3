using System;
using System.Collections.Generic;
using System.Linq;
using Latenn;

namespace Smoke
{
    /// <summary>The same case by a binding: inputs where they lie, outputs taken from the runtime, and fed back in a loop.</summary>
    internal static class Bound
    {
        private const int Warm = 4;
        private const int Steps = 16;
        private const int Tries = 3;

        /// <summary>Null when a bound run gives what is expected, else the first difference.</summary>
        public static string? Difference(Model model, IReadOnlyDictionary<string, Tensor> inputs, IReadOnlyList<KeyValuePair<string, Tensor>> expected, Comparison compare)
        {
            // Texts have no memory that could be shared.
            if (inputs.Values.Any(input => input.ElementType == ElementType.String))
                return null;
            using Binding binding = model.Bind();
            foreach (KeyValuePair<string, Tensor> input in inputs)
            {
                using Value value = Value.WrapBytes(model, input.Value.ElementType, input.Value.ToBytes(), input.Value.Shape.ToArray());
                binding.BindInput(input.Key, value);
            }
            binding.Run();
            foreach (KeyValuePair<string, Tensor> pair in expected)
            {
                using Value output = binding[pair.Key];
                string? difference = compare.Difference(output.ToTensor(), pair.Value);
                if (difference != null)
                    return $"bound output {pair.Key}: {difference}";
            }
            return IsLoop(inputs, expected) ? Loop(model, inputs.Single(), expected.Single().Key, compare) : null;
        }

        private static bool IsLoop(IReadOnlyDictionary<string, Tensor> inputs, IReadOnlyList<KeyValuePair<string, Tensor>> expected)
        {
            if (inputs.Count != 1 || expected.Count != 1)
                return false;
            Tensor from = inputs.Values.Single();
            Tensor to = expected[0].Value;
            return from.ElementType == ElementType.Float32 && to.ElementType == from.ElementType && to.Shape.SequenceEqual(from.Shape);
        }

        /// <summary>Feeds the output back for some steps: the same as so many plain runs, and no garbage on the way.</summary>
        private static string? Loop(Model model, KeyValuePair<string, Tensor> input, string output, Comparison compare)
        {
            long[] shape = input.Value.Shape.ToArray();
            using Binding binding = model.Bind();
            using Value state = Value.Wrap(model, (float[])input.Value.GetData<float>().Clone(), shape);
            using Value next = Value.Create(model, ElementType.Float32, shape);
            binding.BindInput(input.Key, state);
            binding.BindOutput(output, next);
            binding.Feed(output, input.Key);
            Garbage(binding, Warm);
            long garbage = Garbage(binding, Steps);
            int runs = Warm + Steps;
            // What a run allocates, every run allocates. What .NET itself does now and then on this thread, it does once.
            for (int i = 1; i < Tries && garbage != 0; i++, runs += Steps)
                garbage = Garbage(binding, Steps);
            if (garbage != 0)
                return $"a loop of {Steps} bound runs allocated {garbage} bytes";
            Tensor plain = input.Value;
            for (int i = 0; i < runs; i++)
                plain = model.Run(new Dictionary<string, Tensor> { [input.Key] = plain })[output];
            string? difference = compare.Difference(binding[output].ToTensor(), plain);
            return difference == null ? null : $"output {output} after a loop: {difference}";
        }

        /// <summary>The bytes that this thread allocates while it runs the binding some times.</summary>
        private static long Garbage(Binding binding, int runs)
        {
            long before = Allocated();
            for (int i = 0; i < runs; i++)
                binding.Run();
            return Allocated() - before;
        }

        private static long Allocated()
        {
#if NETFRAMEWORK
            return 0; // that framework cannot measure it
#else
            return GC.GetAllocatedBytesForCurrentThread();
#endif
        }
    }
}
