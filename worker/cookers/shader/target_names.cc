#include "worker/cookers/shader/target_names.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "worker/cookers/shader/reserved_words.h"
#include "worker/cookers/shader/spirv_words.h"

namespace galley::worker {
namespace {

using Json = nlohmann::json;

// The names in a module before any of them is changed.
struct ModuleNames {
  std::set<uint32_t> entry_points;
  std::map<uint32_t, std::vector<std::string>> members;  // by structure
  // The second names that spirv-cross writes for specialisation constants.
  std::set<std::string> constants_in_metal;
};

ModuleNames ReadNames(const std::vector<uint32_t>& module) {
  ModuleNames names;
  std::map<uint32_t, std::string> by_id;
  ForEachInstruction(module, [&](const SpirvInstruction& each) {
    const auto& operands = each.operands;
    if (each.opcode == SpvOpEntryPoint && operands.size() > 1)
      names.entry_points.insert(operands[1]);
    if (each.opcode == SpvOpName && operands.size() > 1)
      by_id[operands[0]] = LiteralTextOf(operands.subspan(1));
    if (each.opcode == SpvOpMemberName && operands.size() > 2) {
      auto& members = names.members[operands[0]];
      if (operands[1] >= module.size()) return;  // no structure has so many members
      if (members.size() <= operands[1]) members.resize(operands[1] + 1);
      members[operands[1]] = LiteralTextOf(operands.subspan(2));
    }
    if (each.opcode == SpvOpDecorate && operands.size() > 2 && operands[1] == SpvDecorationSpecId)
      names.constants_in_metal.insert(by_id[operands[0]] + "_tmp");
  });
  return names;
}

bool IsBuiltIn(std::string_view name) { return name.starts_with("gl_"); }

// The target's name of a function. Its source name is followed by its parameters: "shade(vf3;".
std::string NewName(ShaderLanguage language, const ModuleNames& names, const std::string& name) {
  const size_t end = std::min(name.find('('), name.size());
  const std::string bare = name.substr(0, end);
  if (language == ShaderLanguage::kMsl && names.constants_in_metal.contains(bare))
    return fmt::format("{}{}", kOwnPrefix, name);
  return WrittenName(language, bare) + name.substr(end);
}

void RecordName(ShaderLanguage language, Json& named) {
  const auto& name = named.at("name").get_ref<const std::string&>();
  if (std::string written = WrittenName(language, name); written != name)
    named["written"] = std::move(written);
}

// Records the target's names of the structure that is the type of `value`, and, in the same way, of
// its members.
void RecordMembers(ShaderLanguage language, Json& value) {
  if (value.contains("struct")) {
    const auto& name = value.at("struct").get_ref<const std::string&>();
    if (std::string written = WrittenName(language, name); written != name)
      value["written_struct"] = std::move(written);
  }
  if (!value.contains("members")) return;
  std::vector<std::string> names;
  for (const Json& member : value.at("members"))
    names.push_back(member.at("name").get<std::string>());
  const std::vector<std::string> written = WrittenMembers(language, names);
  for (size_t i = 0; i < names.size(); ++i) {
    Json& member = value.at("members").at(i);
    if (written[i] != names[i]) member["written"] = written[i];
    RecordMembers(language, member);
  }
}

// Records the variable's present name.
void RecordVariable(const CrossModule& module, uint32_t id, std::string_view name, Json& fields) {
  const std::string written = spvc_compiler_get_name(module.compiler(), id);
  if (!written.empty() && written != name) fields["written"] = written;
}

// Records the target's name of "position", or of "block.member".
void RecordInterface(ShaderLanguage language, Json& variable) {
  const std::string name = variable.at("name").get<std::string>();
  const size_t dot = name.find('.');
  std::string written = WrittenName(language, name.substr(0, dot));
  if (dot != std::string::npos) written += "." + WrittenName(language, name.substr(dot + 1));
  if (written != name && !variable.contains("written")) variable["written"] = std::move(written);
  RecordMembers(language, variable);
}

}  // namespace

std::vector<uint32_t> NameForTarget(const std::vector<uint32_t>& module, ShaderLanguage language) {
  if (language == ShaderLanguage::kSpirv) return module;
  ModuleNames names = ReadNames(module);
  for (auto& [structure, members] : names.members) {
    if (members.empty() || !IsBuiltIn(members.front())) members = WrittenMembers(language, members);
  }
  std::vector<uint32_t> renamed(module.begin(), module.begin() + kSpirvHeaderWords);
  renamed.reserve(module.size());
  ForEachInstruction(module, [&](const SpirvInstruction& each) {
    const auto& operands = each.operands;
    if (each.opcode == SpvOpName && operands.size() > 1) {
      const std::string name = LiteralTextOf(operands.subspan(1));
      const bool stays = IsBuiltIn(name) || names.entry_points.contains(operands[0]);
      AppendWithText(SpvOpName, operands.first(1), stays ? name : NewName(language, names, name),
                     renamed);
      return;
    }
    if (each.opcode == SpvOpMemberName && operands.size() > 2 && operands[1] < module.size()) {
      AppendWithText(SpvOpMemberName, operands.first(2),
                     names.members.at(operands[0]).at(operands[1]), renamed);
      return;
    }
    renamed.push_back(static_cast<uint32_t>((operands.size() + 1) << 16) |
                      static_cast<uint32_t>(each.opcode));
    renamed.insert(renamed.end(), operands.begin(), operands.end());
  });
  return renamed;
}

void RecordWrittenNames(const CrossModule& module, ShaderLanguage language,
                        Reflection& reflection) {
  if (language == ShaderLanguage::kSpirv) return;
  for (ReflectedBinding& binding : reflection.bindings) {
    if (binding.is_used) RecordVariable(module, binding.id, binding.name, binding.fields);
    if (const auto block = binding.fields.find("block"); block != binding.fields.end()) {
      RecordName(language, *block);
      RecordMembers(language, *block);
    }
  }
  if (auto& push = reflection.push_constants; push.has_value()) {
    if (push->is_used)
      RecordVariable(module, push->id, push->fields.at("name").get<std::string>(), push->fields);
    RecordMembers(language, push->fields);
  }
  for (const char* list : {"inputs", "outputs"}) {
    for (Json& variable : reflection.fields.at(list)) RecordInterface(language, variable);
  }
  for (Json& constant : reflection.fields.at("specialization_constants"))
    RecordName(language, constant);
}

}  // namespace galley::worker
