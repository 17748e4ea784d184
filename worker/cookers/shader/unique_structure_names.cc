#include "worker/cookers/shader/unique_structure_names.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "worker/cookers/shader/spirv_words.h"

namespace galley::worker {
namespace {

// The limit on compared pairs of types in a module; more are taken for endless.
constexpr uint64_t kComparisonsMax = 200'000;

struct ComparedType {
  SpvOp opcode = SpvOpNop;
  std::vector<uint32_t> members;  // a structure's members; else the types that the type is made of
};

// Finds the structures that need a name of their own, by comparing as spirv-cross' parser does.
class Comparer {
 public:
  void Read(const SpirvInstruction& instruction) {
    const auto& operands = instruction.operands;
    switch (instruction.opcode) {
      case SpvOpName:
        if (operands.size() > 1) names_[operands[0]] = LiteralTextOf(operands.subspan(1));
        return;
      case SpvOpTypeVector:
      case SpvOpTypeMatrix:
      case SpvOpTypeArray:
      case SpvOpTypeRuntimeArray:
        return Declare(instruction, 1, 1);
      case SpvOpTypePointer:
        return Declare(instruction, 2, 1);
      case SpvOpTypeStruct:
        Declare(instruction, 1, operands.size());
        return CompareWithOthers(operands[0]);
      default:
        return;
    }
  }
  std::map<uint32_t, std::string> TakeParted() { return std::move(parted_); }

 private:
  void Declare(const SpirvInstruction& instruction, size_t first, size_t count) {
    const auto members = instruction.operands.subspan(first).first(
        std::min(count, instruction.operands.size() - first));
    types_[instruction.operands[0]] = {.opcode = instruction.opcode,
                                       .members = {members.begin(), members.end()}};
  }
  void CompareWithOthers(uint32_t id) {
    const auto name = names_.find(id);
    if (name == names_.end() || name->second.empty()) return;
    std::vector<uint32_t>& others = by_name_[name->second];
    for (const uint32_t other : others) {
      if (Ends(id, other, 0)) continue;
      parted_[id] = name->second;
      return;
    }
    others.push_back(id);
  }
  // Whether a comparison of `a` and `b` ends. Types that are declared later are still empty.
  bool Ends(uint32_t a, uint32_t b, int depth) {
    constexpr int kDepthMax = 1'000;
    if (left_ == 0 || depth > kDepthMax) return false;
    --left_;
    const auto first = types_.find(a);
    const auto second = types_.find(b);
    if (first == types_.end() || second == types_.end() ||
        first->second.opcode != second->second.opcode ||
        first->second.members.size() != second->second.members.size()) {
      return true;
    }
    for (size_t i = 0; i < first->second.members.size(); ++i) {
      if (!Ends(first->second.members[i], second->second.members[i], depth + 1)) return false;
    }
    return true;
  }

  std::map<uint32_t, std::string> names_;
  std::map<uint32_t, ComparedType> types_;
  std::map<std::string, std::vector<uint32_t>> by_name_;
  std::map<uint32_t, std::string> parted_;
  uint64_t left_ = kComparisonsMax;
};

}  // namespace

UniqueStructureNames MakeStructureNamesUnique(const std::vector<uint32_t>& module) {
  Comparer comparer;
  ForEachInstruction(module, [&](const SpirvInstruction& each) { comparer.Read(each); });
  UniqueStructureNames parted{.module = {}, .names = comparer.TakeParted()};
  if (parted.names.empty()) {
    parted.module = module;
    return parted;
  }
  // The last name that a structure is given counts, and in a module types come after all names: the
  // new names come just before the first type.
  parted.module.assign(module.begin(), module.begin() + kSpirvHeaderWords);
  bool is_named = false;
  ForEachInstruction(module, [&](const SpirvInstruction& each) {
    if (!is_named && each.opcode >= SpvOpTypeVoid && each.opcode <= SpvOpTypeForwardPointer) {
      is_named = true;
      for (const auto& [id, name] : parted.names) {
        AppendWithText(SpvOpName, std::span(&id, 1), fmt::format("{}(parted {}", name, id),
                       parted.module);
      }
    }
    parted.module.push_back(static_cast<uint32_t>((each.operands.size() + 1) << 16) |
                            static_cast<uint32_t>(each.opcode));
    parted.module.insert(parted.module.end(), each.operands.begin(), each.operands.end());
  });
  return parted;
}

}  // namespace galley::worker
