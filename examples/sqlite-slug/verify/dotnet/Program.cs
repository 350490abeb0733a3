using System;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using System.Text;
using Example.SqliteSlug;

namespace Smoke
{
    /// <summary>Loads the extension into the system's SQLite, and calls its function.</summary>
    internal static class Program
    {
        [DllImport("sqlite3")] private static extern int sqlite3_open(byte[] file, out IntPtr database);
        [DllImport("sqlite3")] private static extern int sqlite3_enable_load_extension(IntPtr database, int allowed);
        [DllImport("sqlite3")] private static extern int sqlite3_load_extension(IntPtr database, byte[] file, IntPtr entry, IntPtr message);
        [DllImport("sqlite3")] private static extern int sqlite3_prepare_v2(IntPtr database, byte[] query, int size, out IntPtr statement, IntPtr tail);
        [DllImport("sqlite3")] private static extern int sqlite3_step(IntPtr statement);
        [DllImport("sqlite3")] private static extern IntPtr sqlite3_column_text(IntPtr statement, int column);
        [DllImport("sqlite3")] private static extern IntPtr sqlite3_errmsg(IntPtr database);
        [DllImport("sqlite3")] private static extern int sqlite3_finalize(IntPtr statement);
        [DllImport("sqlite3")] private static extern int sqlite3_close(IntPtr database);

        private static int Main(string[] arguments)
        {
            string path = SqliteSlugExtension.GetLibraryPath(), outcome;
            Assembly helper = typeof(SqliteSlugExtension).Assembly;
            string framework = helper.GetCustomAttribute<TargetFrameworkAttribute>().FrameworkName;
            try
            {
                string computed = Computed(path);
                outcome = computed == "hello-world" ? "\"passed\": [\"slug\"]"
                    : "\"failed\": [{\"name\": \"slug\", \"message\": " + Quoted("computed " + computed) + "}]";
            }
            catch (Exception error) when (error is DllNotFoundException || error is EntryPointNotFoundException)
            {
                outcome = "\"no_host\": " + Quoted("no SQLite that loads extensions: " + error.Message.Split('\n')[0]);
            }
            File.WriteAllText(arguments[1], "{\"assembly\": {\"path\": " + Quoted(helper.Location) + ", \"framework\": "
                + Quoted(framework) + "}, \"libraries\": [" + Quoted(path) + "], " + outcome + "}");
            return outcome.StartsWith("\"failed") ? 1 : 0;
        }

        private static string Computed(string path)
        {
            sqlite3_open(Bytes(":memory:"), out IntPtr database);
            sqlite3_enable_load_extension(database, 1);
            sqlite3_load_extension(database, Bytes(path), IntPtr.Zero, IntPtr.Zero);
            sqlite3_prepare_v2(database, Bytes("SELECT slug('Hello, World!')"), -1, out IntPtr statement, IntPtr.Zero);
            sqlite3_step(statement);
            IntPtr text = statement == IntPtr.Zero ? sqlite3_errmsg(database) : sqlite3_column_text(statement, 0);
            string computed = Marshal.PtrToStringAnsi(text);
            sqlite3_finalize(statement);
            sqlite3_close(database);
            return computed;
        }

        private static byte[] Bytes(string text) { return Encoding.UTF8.GetBytes(text + "\0"); }

        private static string Quoted(string text) { return "\"" + text.Replace("\\", "/").Replace("\"", "'") + "\""; }
    }
}
