using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using Latenn;
using XElement = System.Xml.Linq.XElement; // the namespace has a LoadOptions, too

namespace Smoke
{
    /// <summary>cases.json and cases.bin: models, inputs and the outputs that another implementation gave.</summary>
    internal sealed class CaseFile : IDisposable
    {
        private readonly FileStream _data;

        private CaseFile(FileStream data, XElement root)
        {
            _data = data;
            Cases = root.Member("cases").Elements().Select(one => new Case(this, one)).ToList();
        }

        public IReadOnlyList<Case> Cases { get; }

        public static CaseFile Open(string folder)
        {
            XElement root = Json.Parse(File.ReadAllBytes(Path.Combine(folder, "cases.json")));
            return new CaseFile(File.OpenRead(Path.Combine(folder, "cases.bin")), root);
        }

        /// <summary>The bytes at [offset, size].</summary>
        public byte[] Read(XElement place)
        {
            long[] numbers = place.Elements().Select(number => (long)number).ToArray();
            var bytes = new byte[numbers[1]];
            _data.Seek(numbers[0], SeekOrigin.Begin);
            for (int at = 0; at < bytes.Length;)
            {
                int got = _data.Read(bytes, at, bytes.Length - at);
                if (got == 0)
                    throw new EndOfStreamException($"cases.bin ends before {numbers[0]} + {numbers[1]}.");
                at += got;
            }
            return bytes;
        }

        public Tensor ReadTensor(XElement one)
        {
            var type = (ElementType)(int)one.Member("type");
            long[] shape = one.Member("shape").Elements().Select(dimension => (long)dimension).ToArray();
            byte[] bytes = Read(one.Member("data"));
            if (type != ElementType.String)
                return Tensor.FromBytes(type, bytes, shape);
            byte[] offsets = Read(one.Member("offsets"));
            var texts = new string[offsets.Length / sizeof(long) - 1];
            for (int i = 0; i < texts.Length; i++)
            {
                int start = checked((int)BitConverter.ToInt64(offsets, i * sizeof(long)));
                int end = checked((int)BitConverter.ToInt64(offsets, (i + 1) * sizeof(long)));
                texts[i] = Encoding.UTF8.GetString(bytes, start, end - start);
            }
            return Tensor.Create(texts, shape);
        }

        public void Dispose() => _data.Dispose();
    }

    /// <summary>One model with its sets of inputs and expected outputs.</summary>
    internal sealed class Case
    {
        private readonly CaseFile _file;
        private readonly XElement _json;

        public Case(CaseFile file, XElement json)
        {
            _file = file;
            _json = json;
            Name = (string)json.Member("name");
        }

        public string Name { get; }

        /// <summary>Null when all outputs agree, else the first that does not and how.</summary>
        public string? Run(LoadOptions options, Results results)
        {
            var compare = new Comparison((double)_json.Member("rtol"), (double)_json.Member("atol"));
            using Model model = Model.Load(_file.Read(_json.Member("model")), options);
            results.Report = model.Report;
            results.Backend = model.Backend;
            int index = 0;
            foreach (XElement set in _json.Member("sets").Elements())
            {
                Dictionary<string, Tensor> inputs = ReadAll(set.Member("inputs")).ToDictionary(pair => pair.Key, pair => pair.Value);
                IReadOnlyDictionary<string, Tensor> actual = model.Run(inputs);
                List<KeyValuePair<string, Tensor>> expected = ReadAll(set.Member("outputs"));
                if (!actual.Keys.SequenceEqual(expected.Select(pair => pair.Key)))
                    return $"set {index}: the outputs are {string.Join(", ", actual.Keys)} instead of {string.Join(", ", expected.Select(pair => pair.Key))}";
                foreach (KeyValuePair<string, Tensor> pair in expected)
                {
                    string? difference = compare.Difference(actual[pair.Key], pair.Value);
                    if (difference != null)
                        return $"set {index}, output {pair.Key}: {difference}";
                }
                string? bound = Bound.Difference(model, inputs, expected, compare);
                if (bound != null)
                    return $"set {index}, {bound}";
                index++;
            }
            return index > 0 ? null : "the case has no set of inputs";
        }

        private List<KeyValuePair<string, Tensor>> ReadAll(XElement tensors) => tensors.Elements()
            .Select(one => new KeyValuePair<string, Tensor>((string)one.Member("name"), _file.ReadTensor(one)))
            .ToList();
    }
}
