using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.Json;
using Latenn;

namespace Smoke
{
    /// <summary>cases.json and cases.bin: models, inputs and the outputs that another implementation gave.</summary>
    internal sealed class CaseFile : IDisposable
    {
        private readonly FileStream _data;

        private CaseFile(FileStream data, JsonElement root)
        {
            _data = data;
            Cases = root.GetProperty("cases").EnumerateArray().Select(one => new Case(this, one)).ToList();
        }

        public IReadOnlyList<Case> Cases { get; }

        public static CaseFile Open(string folder)
        {
            JsonElement root = JsonDocument.Parse(File.ReadAllBytes(Path.Combine(folder, "cases.json"))).RootElement;
            return new CaseFile(File.OpenRead(Path.Combine(folder, "cases.bin")), root);
        }

        /// <summary>The bytes at [offset, size].</summary>
        public byte[] Read(JsonElement place)
        {
            var bytes = new byte[place[1].GetInt64()];
            _data.Seek(place[0].GetInt64(), SeekOrigin.Begin);
            for (int at = 0; at < bytes.Length;)
            {
                int got = _data.Read(bytes, at, bytes.Length - at);
                if (got == 0)
                    throw new EndOfStreamException($"cases.bin ends before {place}.");
                at += got;
            }
            return bytes;
        }

        public Tensor ReadTensor(JsonElement one)
        {
            var type = (ElementType)one.GetProperty("type").GetInt32();
            long[] shape = one.GetProperty("shape").EnumerateArray().Select(dimension => dimension.GetInt64()).ToArray();
            byte[] bytes = Read(one.GetProperty("data"));
            if (type != ElementType.String)
                return Tensor.FromBytes(type, bytes, shape);
            byte[] offsets = Read(one.GetProperty("offsets"));
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
        private readonly JsonElement _json;

        public Case(CaseFile file, JsonElement json)
        {
            _file = file;
            _json = json;
            Name = json.GetProperty("name").GetString() ?? "";
        }

        public string Name { get; }

        /// <summary>Null when all outputs agree, else the first that does not and how.</summary>
        public string? Run(LoadOptions options, Results results)
        {
            var compare = new Comparison(_json.GetProperty("rtol").GetDouble(), _json.GetProperty("atol").GetDouble());
            using Model model = Model.Load(_file.Read(_json.GetProperty("model")), options);
            results.Report = model.Report;
            results.Backend = model.Backend;
            int index = 0;
            foreach (JsonElement set in _json.GetProperty("sets").EnumerateArray())
            {
                IReadOnlyDictionary<string, Tensor> actual = model.Run(ReadAll(set.GetProperty("inputs")).ToDictionary(pair => pair.Key, pair => pair.Value));
                List<KeyValuePair<string, Tensor>> expected = ReadAll(set.GetProperty("outputs"));
                if (!actual.Keys.SequenceEqual(expected.Select(pair => pair.Key)))
                    return $"set {index}: the outputs are {string.Join(", ", actual.Keys)} instead of {string.Join(", ", expected.Select(pair => pair.Key))}";
                foreach (KeyValuePair<string, Tensor> pair in expected)
                {
                    string? difference = compare.Difference(actual[pair.Key], pair.Value);
                    if (difference != null)
                        return $"set {index}, output {pair.Key}: {difference}";
                }
                index++;
            }
            return index > 0 ? null : "the case has no set of inputs";
        }

        private List<KeyValuePair<string, Tensor>> ReadAll(JsonElement tensors) => tensors.EnumerateArray()
            .Select(one => new KeyValuePair<string, Tensor>(one.GetProperty("name").GetString() ?? "", _file.ReadTensor(one)))
            .ToList();
    }
}
