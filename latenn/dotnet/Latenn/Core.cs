using System;
using System.IO;
using System.Runtime.InteropServices;

namespace Latenn
{
    /// <summary>The first call into the native library, which says in words what .NET says in search paths.</summary>
    internal static class Core
    {
        private static volatile bool _ready;

        /// <summary>Returns when <c>latenn_core</c> is loaded and speaks this binding's interface.</summary>
        /// <exception cref="LatennException"><see cref="LatennCode.CoreUnavailable"/>: it is missing, broken, for
        /// another processor, or of another interface version.</exception>
        public static void Ensure()
        {
            if (_ready)
                return;
            uint abi;
            try
            {
                LoadOnClassicFramework();
                abi = Native.GetAbi();
            }
            catch (DllNotFoundException problem)
            {
                throw Unavailable("cannot be found or loaded", problem);
            }
            catch (BadImageFormatException problem)
            {
                throw Unavailable("is not a library for this system and processor", problem);
            }
            catch (EntryPointNotFoundException problem)
            {
                throw Unavailable("is another library of that name: it has no function latenn_abi", problem);
            }
            if (abi != Native.Abi)
                throw Unavailable($"speaks interface {abi}, and Latenn.dll speaks {Native.Abi}: assembly and native library are of different packages", null);
            _ready = true;
        }

        /// <summary>
        /// Loads the file of this process's processor on .NET Framework, which looks next to the application alone, where
        /// an AnyCPU application has the file of one processor at most: the package's build file lays all of them below
        /// runtimes/. Windows then answers DllImport with what is loaded. Whatever fails here, DllImport reports.
        /// </summary>
        private static void LoadOnClassicFramework()
        {
            if (!RuntimeInformation.FrameworkDescription.StartsWith(".NET Framework", StringComparison.Ordinal))
                return;
            foreach (string directory in HostDirectories.Find())
            {
                string file = Path.Combine(directory, Native.Library + ".dll");
                if (File.Exists(file) && Native.LoadLibrary(file, IntPtr.Zero, Native.SearchBesideTheLibrary) != IntPtr.Zero)
                    return;
            }
        }

        private static LatennException Unavailable(string what, Exception? inner)
        {
            string identifier = HostDirectories.RuntimeIdentifier;
            string message =
                $"The native library latenn_core {what}. It belongs to the NuGet package Latenn, as runtimes/{identifier}/native of it: "
                + $"see that the version in use supports {identifier}, and that the application was restored and published with it. "
                + $"Searched: {string.Join(", ", HostDirectories.Find())}.";
            if (inner != null)
                message += $" {inner.GetType().Name}: {inner.Message}";
            return new LatennException(LatennCode.CoreUnavailable, message, "", inner);
        }
    }
}
