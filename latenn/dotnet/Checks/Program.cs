using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Text;
using Latenn;

namespace Checks
{
    /// <summary>Runs every check and prints one line each, "passed NAME" or "failed NAME: why".</summary>
    internal static class Program
    {
        private static int Main()
        {
            int failures = 0;
            IEnumerable<MethodInfo> checks = new[]
            {
                typeof(TensorChecks),
                typeof(ModelChecks),
                typeof(PlaceChecks),
#if LATENN_MEMORY
                typeof(MemoryChecks),
#endif
            }
                .SelectMany(group => group.GetMethods(BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly));
            foreach (MethodInfo check in checks.OrderBy(method => method.Name, StringComparer.Ordinal))
            {
                try
                {
                    check.Invoke(null, null);
                    Console.WriteLine($"passed {check.Name}");
                }
                catch (TargetInvocationException problem)
                {
                    failures++;
                    Console.WriteLine($"failed {check.Name}: {problem.InnerException}");
                }
            }
            return failures == 0 ? 0 : 1;
        }
    }

    /// <summary>What a check expects.</summary>
    internal static class Expect
    {
        public static void Equal<T>(T expected, T actual)
        {
            if (!EqualityComparer<T>.Default.Equals(expected, actual))
                throw new InvalidOperationException($"expected {expected}, got {actual}");
        }

        public static void Same<T>(IEnumerable<T> expected, IEnumerable<T> actual)
        {
            if (!expected.SequenceEqual(actual))
                throw new InvalidOperationException($"expected [{string.Join(", ", expected)}], got [{string.Join(", ", actual)}]");
        }

        public static void Contains(string part, string text)
        {
            if (!text.Contains(part, StringComparison.Ordinal))
                throw new InvalidOperationException($"expected '{part}' in '{text}'");
        }

        /// <summary>Loading and reporting both refuse the options, and name the one that is at fault.</summary>
        public static void Refused(string option, LoadOptions options)
        {
            byte[] model = Encoding.UTF8.GetBytes("ok {}");
            Equal(option, Throws<ArgumentException>(() => Model.Load(model, options).Dispose()).ParamName);
            Equal(option, Throws<ArgumentException>(() => Runtime.Report(options)).ParamName);
        }

        public static T Throws<T>(Action action)
            where T : Exception
        {
            try
            {
                action();
            }
            catch (T expected)
            {
                return expected;
            }
            throw new InvalidOperationException($"expected {typeof(T).Name}, got no exception");
        }
    }
}
