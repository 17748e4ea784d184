#include "worker/cookers/mesh/attribute_repairs.h"

#include <cmath>
#include <map>
#include <string_view>

#include "common/record/warning.h"
#include "worker/cookers/mesh/vector3.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {
namespace {

// The validator's tolerance for the length of three numbers that should have length 1.
constexpr double kDirectionLengthOff = 0.00674;

class DataRepair {
 public:
  DataRepair(Primitive& primitive, Warnings& warnings)
      : primitive_(primitive), warnings_(warnings) {}

  void Run() {
    for (Attribute& attribute : primitive_.attributes) {
      if (attribute.target != kBase) continue;
      Stream& stream = attribute.stream;
      const bool is_tangent = attribute.semantic == "TANGENT";
      if (is_tangent || attribute.semantic == "NORMAL") BringToLength1(stream);
      if (is_tangent) RepairSigns(stream);
      if (attribute.semantic == "COLOR_0") CheckColors(stream);
    }
    RepairInfluences();
  }

 private:
  static bool IsFloat(const Stream& stream) { return stream.format.component == Component::kFloat; }

  void Warn(size_t count, std::string_view what, record::WarningKind kind) {
    if (count == 0) return;
    warnings_.AddKept(kind, "{}: {} {}", primitive_.pointer, count, what);
  }

  // Directions without a length stay: the passes repair and report them.
  static void BringToLength1(Stream& stream) {
    for (size_t i = 0; i < stream.count; ++i) {
      const Vector3 vector = VectorAt(stream, i);
      const Vector3 unit = Normalized(vector);
      const double length = std::sqrt(Dot(vector, vector));
      if (IsZero(unit) || std::abs(length - 1) <= kDirectionLengthOff) continue;
      PutNearest(stream, i, 0, unit.x);
      PutNearest(stream, i, 1, unit.y);
      PutNearest(stream, i, 2, unit.z);
    }
  }

  void RepairSigns(Stream& stream) {
    size_t count = 0;
    for (size_t i = 0; i < stream.count; ++i) {
      const float sign = stream.At(i, 3);
      if (sign == 1 || sign == -1) continue;
      PutNearest(stream, i, 3, sign < 0 ? -1 : 1);
      ++count;
    }
    Warn(count,
         "tangents have a sign that is neither 1 nor -1; the nearer one is put there "
         "(ACCESSOR_INVALID_SIGN)",
         record::WarningKind::kMeshRepaired);
  }

  void CheckColors(const Stream& stream) {
    if (!IsFloat(stream)) return;
    size_t count = 0;
    for (size_t i = 0; i < stream.count; ++i) {
      bool is_outside = false;
      for (size_t c = 0; c < stream.format.width(); ++c)
        is_outside = is_outside || !(stream.At(i, c) >= 0 && stream.At(i, c) <= 1);
      if (is_outside) ++count;
    }
    Warn(count, "colours are outside of 0 to 1; they stay as they are (ACCESSOR_NON_CLAMPED)",
         record::WarningKind::kMeshFile);
  }

  struct Set {
    Stream* joints = nullptr;
    Stream* weights = nullptr;
  };
  std::vector<Set> FindSets() {
    std::map<std::string, Set> sets;  // by the text after "JOINTS_"
    for (Attribute& attribute : primitive_.attributes) {
      if (attribute.target != kBase) continue;
      if (attribute.semantic.starts_with("JOINTS_"))
        sets[attribute.semantic.substr(7)].joints = &attribute.stream;
      if (attribute.semantic.starts_with("WEIGHTS_"))
        sets[attribute.semantic.substr(8)].weights = &attribute.stream;
    }
    std::vector<Set> found;
    for (const auto& [name, set] : sets) {
      if (set.joints != nullptr && set.weights != nullptr) found.push_back(set);
    }
    return found;
  }

  static void SetWeight(Stream& stream, size_t vertex, size_t component, double weight) {
    PutNearest(stream, vertex, component, weight);
  }

  void RepairInfluences() {
    std::vector<Set> sets = FindSets();
    if (sets.empty()) return;
    size_t negative_count = 0;
    size_t twice_count = 0;
    for (size_t vertex = 0; vertex < primitive_.vertex_count; ++vertex) {
      if (ClearNegative(sets, vertex)) ++negative_count;
      if (JoinEqual(sets, vertex)) ++twice_count;
      ClearIdle(sets, vertex);
    }
    Warn(negative_count,
         "vertices have a weight below 0; 0 is put there "
         "(ACCESSOR_WEIGHTS_NEGATIVE)",
         record::WarningKind::kMeshRepaired);
    Warn(twice_count,
         "vertices name a joint twice; it is named once, with the sum of its weights "
         "(ACCESSOR_JOINTS_INDEX_DUPLICATE)",
         record::WarningKind::kMeshRepaired);
  }

  static bool ClearNegative(std::vector<Set>& sets, size_t vertex) {
    bool is_found = false;
    for (Set& set : sets) {
      for (size_t i = 0; i < 4; ++i) {
        if (!(set.weights->At(vertex, i) < 0)) continue;
        SetWeight(*set.weights, vertex, i, 0);
        is_found = true;
      }
    }
    return is_found;
  }

  static bool JoinEqual(std::vector<Set>& sets, size_t vertex) {
    bool is_found = false;
    for (size_t later = 1; later < sets.size() * 4; ++later) {
      Set& own = sets[later / 4];
      const double weight = own.weights->At(vertex, later % 4);
      if (weight <= 0) continue;
      for (size_t i = 0; i < later; ++i) {
        Set& first = sets[i / 4];
        const double before = first.weights->At(vertex, i % 4);
        if (before <= 0 ||
            first.joints->IntegerAt(vertex, i % 4) != own.joints->IntegerAt(vertex, later % 4)) {
          continue;
        }
        if (!IsFloat(*first.weights) && before + weight > 1) break;  // no room for both weights
        SetWeight(*first.weights, vertex, i % 4, before + weight);
        SetWeight(*own.weights, vertex, later % 4, 0);
        is_found = true;
        break;
      }
    }
    return is_found;
  }

  // A vertex without any weight keeps its first joint, which later gets all the weight
  // (quantize.h).
  static void ClearIdle(std::vector<Set>& sets, size_t vertex) {
    bool has_weight = false;
    for (const Set& set : sets) {
      for (size_t i = 0; i < 4; ++i) has_weight = has_weight || set.weights->At(vertex, i) != 0;
    }
    for (size_t i = has_weight ? 0 : 1; i < sets.size() * 4; ++i) {
      Set& set = sets[i / 4];
      if (set.weights->At(vertex, i % 4) == 0) PutInteger(*set.joints, vertex, i % 4, 0);
    }
  }

  Primitive& primitive_;
  Warnings& warnings_;
};

}  // namespace

void RepairAttributeData(Primitive& primitive, Warnings& warnings) {
  DataRepair(primitive, warnings).Run();
}

}  // namespace galley::worker::mesh
