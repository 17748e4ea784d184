#include "worker/cookers/mesh/quantize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "worker/cookers/mesh/vector3.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {
namespace {

constexpr int64_t kWeightSum = 255;
constexpr std::string_view kNoNormal =
    "normals have no length; (0, 0, 1) is put there (ACCESSOR_VECTOR3_NON_UNIT)";
constexpr std::string_view kNoTangent =
    "tangents have no length; (1, 0, 0) is put there (ACCESSOR_VECTOR3_NON_UNIT)";
constexpr std::string_view kNoWeight =
    "vertices have no weight; all is given to their first joint (ACCESSOR_WEIGHTS_NON_NORMALIZED)";

bool IsFloat(const Stream& stream) { return stream.format.component == Component::kFloat; }

int64_t Nearest(double value) { return static_cast<int64_t>(std::floor(value + 0.5)); }

bool AllWithin(const Stream& stream, float min, float max) {
  for (size_t i = 0; i < stream.count * stream.format.width(); ++i) {
    const float value = stream.At(i / stream.format.width(), i % stream.format.width());
    if (!(value >= min && value <= max)) return false;
  }
  return true;
}

Stream Scaled(const Stream& stream, Component component, double scale) {
  Stream scaled = MakeStream(
      {.component = component, .shape = stream.format.shape, .is_normalized = true}, stream.count);
  const size_t width = stream.format.width();
  for (size_t i = 0; i < stream.count * width; ++i)
    PutInteger(scaled, i / width, i % width, Nearest(stream.At(i / width, i % width) * scale));
  return scaled;
}

// NORMAL or TANGENT with its w, quantised. `otherwise` replaces directions without a length.
Stream QuantizedDirections(const Stream& stream, Vector3 otherwise, size_t& zero_count) {
  Stream quantized = MakeStream(
      {.component = Component::kInt8, .shape = stream.format.shape, .is_normalized = true},
      stream.count);
  for (size_t i = 0; i < stream.count; ++i) {
    Vector3 direction = Normalized(VectorAt(stream, i));
    if (IsZero(direction)) {
      direction = otherwise;
      ++zero_count;
    }
    PutInteger(quantized, i, 0, Nearest(direction.x * 127));
    PutInteger(quantized, i, 1, Nearest(direction.y * 127));
    PutInteger(quantized, i, 2, Nearest(direction.z * 127));
    if (stream.format.shape == Shape::kVec4)
      PutInteger(quantized, i, 3, stream.At(i, 3) < 0 ? -127 : 127);
  }
  return quantized;
}

// Puts `otherwise` in the place of directions without a length. Returns their number.
size_t PutLengths(Stream& stream, Vector3 otherwise) {
  size_t count = 0;
  for (size_t i = 0; i < stream.count; ++i) {
    if (!IsZero(Normalized(VectorAt(stream, i)))) continue;
    PutNearest(stream, i, 0, otherwise.x);
    PutNearest(stream, i, 1, otherwise.y);
    PutNearest(stream, i, 2, otherwise.z);
    ++count;
  }
  return count;
}

bool IsMultipleOf255th(const Stream& stream) {
  for (size_t i = 0; i < stream.count * stream.format.width(); ++i) {
    const double value = stream.At(i / stream.format.width(), i % stream.format.width()) * 255.0;
    if (std::abs(value - std::floor(value + 0.5)) > 1e-3) return false;
  }
  return true;
}

void QuantizeColor(Stream& stream) {
  if (!IsFloat(stream) || !AllWithin(stream, 0, 1)) return;
  stream = IsMultipleOf255th(stream) ? Scaled(stream, Component::kUint8, 255)
                                     : Scaled(stream, Component::kUint16, 65535);
}

// JOINTS_n and WEIGHTS_n of all n, as a list of influences for each vertex.
class Influences {
 public:
  explicit Influences(Primitive& primitive) {
    std::map<std::string_view, Stream*> joints;  // by the text after "JOINTS_"
    for (Attribute& attribute : primitive.attributes) {
      if (attribute.target == kBase && attribute.semantic.starts_with("JOINTS_"))
        joints[std::string_view(attribute.semantic).substr(7)] = &attribute.stream;
    }
    for (Attribute& attribute : primitive.attributes) {
      if (attribute.target != kBase || !attribute.semantic.starts_with("WEIGHTS_")) continue;
      weights_.push_back(&attribute.stream);
      const auto own = joints.find(std::string_view(attribute.semantic).substr(8));
      joints_.push_back(own == joints.end() ? nullptr : own->second);
    }
  }

  // Returns the number of vertices without any weight; their first joint gets all the weight.
  size_t QuantizeWeights() {
    if (weights_.empty()) return 0;
    size_t zero_count = 0;
    const size_t vertex_count = weights_.front()->count;
    std::vector<Stream> quantized(
        weights_.size(),
        MakeStream({.component = Component::kUint8, .shape = Shape::kVec4, .is_normalized = true},
                   vertex_count));
    for (size_t vertex = 0; vertex < vertex_count; ++vertex) {
      const std::vector<int64_t> shares = SharesOf(vertex, kWeightSum, zero_count);
      for (size_t i = 0; i < shares.size(); ++i)
        PutInteger(quantized[i / 4], vertex, i % 4, shares[i]);
    }
    for (size_t set = 0; set < weights_.size(); ++set) *weights_[set] = std::move(quantized[set]);
    return zero_count;
  }

  // Makes weights sum to 1 in their own format, or in floats where the sets have several formats.
  // Returns the number of vertices without any weight.
  size_t NormalizeWeights() {
    if (weights_.empty()) return 0;
    const Format format = weights_.front()->format;
    const bool is_one_format =
        std::ranges::all_of(weights_, [&](const Stream* each) { return each->format == format; });
    if (!is_one_format) {
      for (Stream* each : weights_) *each = FromFloats(Shape::kVec4, ToFloats(*each));
    }
    const bool is_float = !is_one_format || IsFloat(*weights_.front());
    const int64_t whole = format.component == Component::kUint16 ? 65535 : kWeightSum;
    size_t zero_count = 0;
    for (size_t vertex = 0; vertex < weights_.front()->count; ++vertex) {
      if (is_float) {
        zero_count += DivideBySum(vertex) ? 0 : 1;
        continue;
      }
      const std::vector<int64_t> shares = SharesOf(vertex, whole, zero_count);
      for (size_t i = 0; i < shares.size(); ++i)
        PutInteger(*weights_[i / 4], vertex, i % 4, shares[i]);
    }
    return zero_count;
  }

  // Sets joints that move nothing to 0, so that a vertex has only one form.
  void ClearIdleJoints() {
    for (size_t set = 0; set < weights_.size(); ++set) {
      if (joints_[set] == nullptr) continue;
      for (size_t i = 0; i < weights_[set]->count * 4; ++i) {
        if (weights_[set]->IntegerAt(i / 4, i % 4) == 0) PutInteger(*joints_[set], i / 4, i % 4, 0);
      }
    }
  }

 private:
  // Divides the weights by their sum. False: they are all 0, and the first has become 1.
  bool DivideBySum(size_t vertex) {
    // The validator's tolerance for the sum's distance from 1, for each weight.
    constexpr double kOff = 2e-7;
    double sum = 0;
    size_t used_count = 0;
    for (size_t i = 0; i < weights_.size() * 4; ++i) {
      const float weight = weights_[i / 4]->At(vertex, i % 4);
      sum += weight;
      if (weight != 0) ++used_count;
    }
    if (sum == 0) {
      PutFloat(*weights_.front(), vertex, 0, 1);
      return false;
    }
    if (std::abs(sum - 1) <= kOff * static_cast<double>(used_count)) return true;
    for (size_t i = 0; i < weights_.size() * 4; ++i) {
      Stream& stream = *weights_[i / 4];
      PutFloat(stream, vertex, i % 4, static_cast<float>(stream.At(vertex, i % 4) / sum));
    }
    return true;
  }

  // Shares of `whole` in whole numbers: each is rounded down, and the rest goes to the largest
  // remainders, the first of equal remainders before the others.
  std::vector<int64_t> SharesOf(size_t vertex, int64_t whole, size_t& zero_count) const {
    std::vector<double> weights;
    double sum = 0;
    for (const Stream* stream : weights_) {
      for (size_t i = 0; i < 4; ++i) {
        weights.push_back(std::max(double{stream->At(vertex, i)}, 0.0));
        sum += weights.back();
      }
    }
    std::vector<int64_t> shares(weights.size(), 0);
    if (sum == 0) {
      ++zero_count;
      shares[0] = whole;
      return shares;
    }
    std::vector<std::pair<double, size_t>> remainders;  // negative remainder, index
    int64_t left = whole;
    for (size_t i = 0; i < weights.size(); ++i) {
      const double share = weights[i] / sum * static_cast<double>(whole);
      shares[i] = static_cast<int64_t>(std::floor(share));
      left -= shares[i];
      remainders.emplace_back(std::floor(share) - share, i);
    }
    std::ranges::sort(remainders);
    for (size_t i = 0; left > 0 && i < remainders.size(); ++i, --left)
      ++shares[remainders[i].second];
    return shares;
  }

  std::vector<Stream*> weights_;
  std::vector<Stream*> joints_;  // nullptr: no joints belong to the weights
};

void ShrinkJoints(Stream& stream) {
  if (stream.format.component == Component::kUint8) return;
  for (size_t i = 0; i < stream.count * 4; ++i) {
    if (stream.IntegerAt(i / 4, i % 4) > 255) return;
  }
  Stream shrunk = MakeStream({.component = Component::kUint8, .shape = Shape::kVec4}, stream.count);
  for (size_t i = 0; i < stream.count * 4; ++i)
    PutInteger(shrunk, i / 4, i % 4, stream.IntegerAt(i / 4, i % 4));
  stream = std::move(shrunk);
}

void Warn(Warnings& warnings, const Primitive& primitive, size_t count, std::string_view what) {
  if (count > 0) warnings.Add("{}: {} {}", primitive.pointer, count, what);
}

// Puts a direction where a normal or tangent has none.
void RepairLengths(const Primitive& primitive, Attribute& attribute, Warnings& warnings) {
  if (attribute.semantic == "NORMAL")
    Warn(warnings, primitive, PutLengths(attribute.stream, {0, 0, 1}), kNoNormal);
  if (attribute.semantic == "TANGENT")
    Warn(warnings, primitive, PutLengths(attribute.stream, {1, 0, 0}), kNoTangent);
}

void QuantizeBase(Primitive& primitive, Attribute& attribute, Warnings& warnings) {
  Stream& stream = attribute.stream;
  size_t zero_count = 0;
  if (attribute.semantic == "NORMAL" && IsFloat(stream)) {
    stream = QuantizedDirections(stream, {0, 0, 1}, zero_count);
    Warn(warnings, primitive, zero_count, kNoNormal);
  } else if (attribute.semantic == "TANGENT" && IsFloat(stream)) {
    stream = QuantizedDirections(stream, {1, 0, 0}, zero_count);
    Warn(warnings, primitive, zero_count, kNoTangent);
  } else if (attribute.semantic.starts_with("TEXCOORD_") && IsFloat(stream)) {
    if (AllWithin(stream, 0, 1)) stream = Scaled(stream, Component::kUint16, 65535);
  } else if (attribute.semantic.starts_with("COLOR_")) {
    QuantizeColor(stream);
  } else if (attribute.semantic.starts_with("JOINTS_")) {
    ShrinkJoints(stream);
  } else if (!IsFloat(stream)) {
    RepairLengths(primitive, attribute, warnings);
  }
}

// Whether the format is allowed without an extension (glTF 2.0, 3.7.2.1 and 3.7.2.2).
bool IsCoreFormat(const Attribute& attribute) {
  const std::string& semantic = attribute.semantic;
  const Format& format = attribute.stream.format;
  if (semantic == "POSITION" || semantic == "NORMAL" || semantic == "TANGENT")
    return format.component == Component::kFloat;
  if (!semantic.starts_with("TEXCOORD_")) return true;
  if (format.component == Component::kFloat) return true;
  const bool is_unsigned =
      format.component == Component::kUint8 || format.component == Component::kUint16;
  // Deltas of texture coordinates may be signed.
  return format.is_normalized && (is_unsigned || attribute.target != kBase);
}

}  // namespace

void QuantizeAttributes(Primitive& primitive, Warnings& warnings) {
  Influences influences(primitive);
  const size_t zero_count = influences.QuantizeWeights();
  influences.ClearIdleJoints();
  Warn(warnings, primitive, zero_count, kNoWeight);
  for (Attribute& attribute : primitive.attributes) {
    if (attribute.target == kBase) {
      QuantizeBase(primitive, attribute, warnings);
    } else if ((attribute.semantic == "NORMAL" || attribute.semantic == "TANGENT") &&
               IsFloat(attribute.stream) && AllWithin(attribute.stream, -1, 1)) {
      attribute.stream = Scaled(attribute.stream, Component::kInt8, 127);
    }
  }
}

void NormalizeAttributes(Primitive& primitive, Warnings& warnings) {
  Warn(warnings, primitive, Influences(primitive).NormalizeWeights(), kNoWeight);
  for (Attribute& attribute : primitive.attributes) {
    if (attribute.target == kBase) RepairLengths(primitive, attribute, warnings);
  }
}

bool NeedsQuantizationExtension(const Primitive& primitive) {
  return !std::ranges::all_of(primitive.attributes, IsCoreFormat);
}

}  // namespace galley::worker::mesh
