#include "worker/cookers/shader/module_checks.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/shader/spirv_words.h"
#include "worker/cookers/shader/text_guard.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

constexpr uint64_t kSaturated = uint64_t{1} << 40;

struct Type {
  SpvOp opcode = SpvOpNop;
  std::vector<uint32_t> members;  // a structure's members; else the types that the type is made of
  uint64_t unfolded = 1;          // members, with those of inner structures counted each time
  uint64_t depth = 0;             // of structures in the type
};

// Reads the types of a module; see CheckModuleTypes.
class TypeReader {
 public:
  absl::Status Run(const std::vector<uint32_t>& module) {
    absl::Status status;
    ForEachInstruction(module, [&](const SpirvInstruction& each) {
      if (status.ok()) status = Read(each);
    });
    return status;
  }

 private:
  std::string NameOf(uint32_t id) const {
    const auto found = names_.find(id);
    return found == names_.end() || found->second.empty() ? fmt::format("%{}", id) : found->second;
  }
  absl::Status Read(const SpirvInstruction& instruction) {
    const auto& operands = instruction.operands;
    switch (instruction.opcode) {
      case SpvOpName:
        if (operands.size() > 1) names_[operands[0]] = LiteralTextOf(operands.subspan(1));
        return absl::OkStatus();
      case SpvOpTypeVector:
      case SpvOpTypeMatrix:
      case SpvOpTypeArray:
      case SpvOpTypeRuntimeArray:
        return Declare(instruction, operands.subspan(1, 1));
      case SpvOpTypePointer:
        return Declare(instruction, operands.subspan(2, 1));
      case SpvOpTypeStruct:
        return Declare(instruction, operands.subspan(1));
      default:
        return absl::OkStatus();
    }
  }
  absl::Status Declare(const SpirvInstruction& instruction, std::span<const uint32_t> members) {
    const uint32_t id = instruction.operands[0];
    Type type{.opcode = instruction.opcode, .members = {members.begin(), members.end()}};
    const bool is_structure = type.opcode == SpvOpTypeStruct;
    if (is_structure) type.unfolded = 0;
    for (const uint32_t member : members) {
      const auto found = types_.find(member);
      // A pointer ends the unfolding; a type that is declared later is a reference.
      const bool is_whole = found != types_.end() && found->second.opcode != SpvOpTypePointer &&
                            type.opcode != SpvOpTypePointer;
      const uint64_t unfolded = is_whole ? found->second.unfolded : 1;
      type.unfolded = is_structure ? std::min(type.unfolded + unfolded, kSaturated) : unfolded;
      if (is_whole) type.depth = std::max(type.depth, found->second.depth);
    }
    if (is_structure) ++type.depth;
    if (type.unfolded > kUnfoldedMembersMax) {
      return VerdictError(
          "structure {} has more than {} members, those of the structures in it counted each time; "
          "make arrays of them, or fewer levels",
          NameOf(id), kUnfoldedMembersMax);
    }
    if (type.depth > kStructureDepthMax) {
      return VerdictError("structure {} nests deeper than {}; make it flatter", NameOf(id),
                          kStructureDepthMax);
    }
    types_[id] = std::move(type);
    return absl::OkStatus();
  }

  std::map<uint32_t, std::string> names_;
  std::map<uint32_t, Type> types_;
};

}  // namespace

absl::Status CheckModuleTypes(const std::vector<uint32_t>& module) {
  return TypeReader().Run(module);
}

namespace {

struct Call {
  uint32_t callee;
  uint64_t depth;  // of the control flow around the call
};

struct Function {
  uint64_t instructions = 0;
  uint64_t depth = 0;
  std::vector<Call> calls;
};

// Reads the functions of a module.
class FunctionReader {
 public:
  void Read(const SpirvInstruction& instruction) {
    const auto& operands = instruction.operands;
    if (instruction.opcode == SpvOpFunction && operands.size() > 1) {
      current_ = &functions_[operands[1]];
      open_.clear();
    }
    if (current_ == nullptr) return;
    ++current_->instructions;
    switch (instruction.opcode) {
      case SpvOpLabel:
        while (!open_.empty() && operands[0] == open_.back()) open_.pop_back();
        return;
      case SpvOpSelectionMerge:
        return Open(operands[0], 1);
      case SpvOpLoopMerge:  // its body and its continue target
        return Open(operands[0], 2);
      case SpvOpFunctionCall:
        if (operands.size() > 2)
          current_->calls.push_back({.callee = operands[2], .depth = open_.size()});
        return;
      default:
        return;
    }
  }
  const std::map<uint32_t, Function>& functions() const { return functions_; }

 private:
  void Open(uint32_t merge, size_t levels) {
    open_.insert(open_.end(), levels, merge);
    current_->depth = std::max<uint64_t>(current_->depth, open_.size());
  }

  std::map<uint32_t, Function> functions_;
  Function* current_ = nullptr;
  std::vector<uint32_t> open_;  // labels at which constructs end, the innermost last
};

std::map<uint32_t, Function> ReadFunctions(const std::vector<uint32_t>& module) {
  FunctionReader reader;
  ForEachInstruction(module, [&](const SpirvInstruction& each) { reader.Read(each); });
  return reader.functions();
}

// The number of elements of local variables, those of arrays in arrays multiplied: the optimiser
// makes a variable of each element.
uint64_t LocalElementsOf(const std::vector<uint32_t>& module) {
  std::map<uint32_t, uint64_t> elements;  // by type
  std::map<uint32_t, uint64_t> constants;
  uint64_t most = 0;
  ForEachInstruction(module, [&](const SpirvInstruction& each) {
    const auto& operands = each.operands;
    const auto elements_of = [&](uint32_t type) {
      const auto found = elements.find(type);
      return found == elements.end() ? uint64_t{1} : found->second;
    };
    if (each.opcode == SpvOpConstant && operands.size() > 2) constants[operands[1]] = operands[2];
    if (each.opcode == SpvOpTypeArray && operands.size() > 2) {
      const auto length = constants.find(operands[2]);
      elements[operands[0]] = std::min(
          elements_of(operands[1]) * (length == constants.end() ? 1 : length->second), kSaturated);
    }
    if (each.opcode == SpvOpTypePointer && operands.size() > 2)
      elements[operands[0]] = operands[1] == SpvStorageClassFunction ? elements_of(operands[2]) : 1;
    if (each.opcode == SpvOpTypeStruct) {
      uint64_t sum = 0;
      for (const uint32_t member : operands.subspan(1))
        sum = std::min(sum + elements_of(member), kSaturated);
      elements[operands[0]] = std::max<uint64_t>(sum, 1);
    }
    if (each.opcode == SpvOpVariable && operands.size() > 2 &&
        operands[2] == SpvStorageClassFunction)
      most = std::max(most, elements_of(operands[0]));
  });
  return most;
}

}  // namespace

absl::Status CheckModuleNesting(const std::vector<uint32_t>& module) {
  for (const auto& [id, function] : ReadFunctions(module)) {
    if (function.depth <= kControlDepthMax) continue;
    return VerdictError(
        "the control flow of a function nests deeper than {} (each else if counts, and a loop "
        "twice): use a switch, a table, or functions for what is inside",
        kControlDepthMax);
  }
  return absl::OkStatus();
}

std::string FindTooMuchToOptimize(const std::vector<uint32_t>& module) {
  struct Unfolded {
    uint64_t instructions = 0;
    uint64_t depth = 0;
    bool operator==(const Unfolded&) const = default;
  };
  const std::map<uint32_t, Function> functions = ReadFunctions(module);
  std::map<uint32_t, Unfolded> unfolded;
  // GLSL has no recursion: as many rounds as functions call each other in a row settle all counts.
  // A module has callees first or last; the limit on rounds bounds the time.
  constexpr size_t kRoundsMax = 1'000;
  bool changes = true;
  for (size_t round = 0; changes && round <= kRoundsMax; ++round) {
    changes = false;
    for (const auto& [id, function] : functions) {
      Unfolded total{.instructions = function.instructions, .depth = function.depth};
      for (const Call& call : function.calls) {
        const Unfolded& callee = unfolded[call.callee];
        total.instructions = std::min(total.instructions + callee.instructions, kSaturated);
        total.depth = std::max(total.depth, std::min(call.depth + callee.depth, kSaturated));
      }
      changes = changes || std::exchange(unfolded[id], total) != total;
    }
  }
  uint64_t sum = 0;
  for (const auto& [id, total] : unfolded) {
    sum = std::min(sum + total.instructions, kSaturated);
    if (total.instructions > kOptimizedInstructionsMax)
      return fmt::format("more than {} instructions in one function", kOptimizedInstructionsMax);
    if (total.depth > kControlDepthMax)
      return fmt::format("control flow that nests deeper than {}", kControlDepthMax);
  }
  if (changes || sum > kOptimizedInstructionsMax * 100)
    return fmt::format("more than {} instructions in all functions",
                       kOptimizedInstructionsMax * 100);
  if (LocalElementsOf(module) > kLocalElementsMax)
    return fmt::format("a local variable of more than {} elements", kLocalElementsMax);
  return {};
}

namespace {

// The specialisation constants of a module, with their decorations.
struct SpecializationConstant {
  std::vector<std::string> names;  // a name for each name in the source
  std::vector<uint32_t> ids;       // constant_id
};

std::string ListOf(const SpecializationConstant& constant) {
  std::string list;
  for (size_t i = 0; i < constant.ids.size(); ++i) {
    const std::string& name = i < constant.names.size() ? constant.names[i] : constant.names.back();
    list += fmt::format("{}{} (constant_id = {})", i == 0 ? "" : " and ", name, constant.ids[i]);
  }
  return list;
}

}  // namespace

absl::Status CheckSpecializationConstants(const std::vector<uint32_t>& module) {
  std::map<uint32_t, SpecializationConstant> constants;
  std::map<uint32_t, std::vector<std::string>> names;
  std::set<uint32_t> computed;
  ForEachInstruction(module, [&](const SpirvInstruction& each) {
    const auto& operands = each.operands;
    if (each.opcode == SpvOpName && operands.size() > 1)
      names[operands[0]].push_back(LiteralTextOf(operands.subspan(1)));
    if (each.opcode == SpvOpDecorate && operands.size() > 2 && operands[1] == SpvDecorationSpecId)
      constants[operands[0]].ids.push_back(operands[2]);
    if (each.opcode == SpvOpSpecConstantOp || each.opcode == SpvOpSpecConstantComposite)
      computed.insert(operands[1]);
  });
  for (auto& [id, constant] : constants) {
    constant.names = names[id];
    if (constant.names.empty()) constant.names.emplace_back("without a name");
    if (constant.ids.size() > 1) {
      return VerdictError(
          "the specialisation constants {} are one constant in SPIR-V, because one is the default "
          "of the other, and all but one would lose their id: give each a literal as its default",
          ListOf(constant));
    }
    if (!computed.contains(id)) continue;
    return VerdictError(
        "the default of the specialisation constant {} is computed from other specialisation "
        "constants, and SPIR-V has no id for such a constant: give it a literal as its default, or "
        "leave out its constant_id",
        ListOf(constant));
  }
  return absl::OkStatus();
}

}  // namespace galley::worker
