#include "worker/cookers/mesh/attribute_names.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "fmt/format.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {
namespace {

constexpr std::string_view kNumbered[] = {"TEXCOORD_", "COLOR_", "JOINTS_", "WEIGHTS_"};
constexpr size_t kMorphedKinds = 2;  // the first of kNumbered may be morphed

// "0", "12", but not "01".
bool IsNumber(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return false;
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool IsKnownName(std::string_view name, bool is_base) {
  if (name.starts_with('_')) return true;
  if (name == "POSITION" || name == "NORMAL" || name == "TANGENT") return true;
  const size_t kinds = is_base ? std::size(kNumbered) : kMorphedKinds;
  for (size_t i = 0; i < kinds; ++i) {
    if (name.starts_with(kNumbered[i]) && IsNumber(name.substr(kNumbered[i].size()))) return true;
  }
  return false;
}

// The name of the attribute without which `source` has no meaning; empty: there is none.
std::string PartnerOf(const AttributeSource& source) {
  if (source.target != kBase) return source.semantic;
  const std::string_view name = source.semantic;
  if (name.starts_with("JOINTS_")) return fmt::format("WEIGHTS_{}", name.substr(7));
  if (name.starts_with("WEIGHTS_")) return fmt::format("JOINTS_{}", name.substr(8));
  return {};
}

void DropPartnerless(std::vector<AttributeSource>& sources, Warnings& warnings) {
  std::set<std::string, std::less<>> base;
  for (const AttributeSource& source : sources) {
    if (source.target == kBase) base.insert(source.semantic);
  }
  const auto lacks_partner = [&](const AttributeSource& source) {
    const std::string partner = PartnerOf(source);
    if (partner.empty() || base.contains(partner)) return false;
    const bool is_delta = source.target != kBase;
    warnings.AddRepair("{}: the primitive has no {}; the attribute is left out ({})",
                       source.pointer, partner,
                       is_delta ? "MESH_PRIMITIVE_MORPH_TARGET_NO_BASE_ACCESSOR"
                                : "MESH_PRIMITIVE_JOINTS_WEIGHTS_MISMATCH");
    return true;
  };
  std::erase_if(sources, lacks_partner);
}

void CheckContinuity(const std::vector<AttributeSource>& sources, const std::string& pointer,
                     Warnings& warnings) {
  std::set<std::string, std::less<>> base;
  for (const AttributeSource& source : sources) {
    if (source.target == kBase) base.insert(source.semantic);
  }
  for (const std::string_view kind : kNumbered) {
    size_t count = 0;
    for (const std::string& name : base) {
      if (name.starts_with(kind) && IsNumber(std::string_view(name).substr(kind.size()))) ++count;
    }
    for (size_t i = 0; i < count; ++i) {
      if (base.contains(fmt::format("{}{}", kind, i))) continue;
      warnings.Add(
          "{}/attributes: the numbers of {}n do not begin with 0, or have a gap; they stay as they "
          "are (MESH_PRIMITIVE_INDEXED_SEMANTIC_CONTINUITY)",
          pointer, kind);
      break;
    }
  }
}

}  // namespace

void RepairAttributeNames(std::vector<AttributeSource>& sources, const std::string& pointer,
                          Warnings& warnings) {
  DropPartnerless(sources, warnings);
  for (const AttributeSource& source : sources) {
    if (IsKnownName(source.semantic, source.target == kBase)) continue;
    warnings.Add(
        "{}: glTF knows no attribute of this name, and one of an application begins with _; it "
        "stays as it is (MESH_PRIMITIVE_INVALID_ATTRIBUTE)",
        source.pointer);
  }
  CheckContinuity(sources, pointer, warnings);
}

}  // namespace galley::worker::mesh
