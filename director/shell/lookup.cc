#include "director/shell/lookup.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/record/action.h"
#include "common/record/recipe.h"
#include "director/shell/known_result.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

const PlatformRecord* RecordOf(const std::optional<PackageRecord>& record,
                               const std::string& platform) {
  if (!record) return nullptr;
  const auto found = record->platforms.find(platform);
  return found == record->platforms.end() ? nullptr : &found->second;
}

std::optional<Digest> PublishedKey(const PlatformRecord* record) {
  return record == nullptr ? std::nullopt : record->published_key;
}

}  // namespace

struct LookUpRunner::Question {
  const LookUpItem* item = nullptr;
  PlatformIndex platform = 0;
  Digest source;
  Digest weak_key;
  std::string trust_domain;
  std::optional<Digest> published_key;
  bool has_failed_before = false;
  bool is_known = false;  // the journal knows the package
  LookedUp::Miss miss;
  struct Candidate {
    std::string set;  // encoded
    std::vector<record::Observed> observed;
    Digest action_key;
    std::optional<record::Result> result;
    std::string encoded;
  };
  std::vector<Candidate> candidates;
  std::vector<std::string> needs;
  std::string error;
  // A cook of this weak key asked for the name: no work is equal to this work.
  bool asks_for_name = false;
};

// Says whether this cook reads the record's trust domain.
bool LookUpRunner::IsReadable(const PlatformRecord& record) const {
  if (record.weak_key == record::WeakKey(record.source, record.recipe, options_.trust_domain))
    return true;
  return std::ranges::any_of(options_.read_trust, [&](const std::string& domain) {
    return record.weak_key == record::WeakKey(record.source, record.recipe, domain);
  });
}

// Says whether the verdict is to be reached again, and no job of this director has reached it.
bool LookUpRunner::IsRetried(const Digest& action_key) const {
  return is_retried_ && !deps_.results->HasVerdict(action_key);
}

std::optional<LookedUp::Item> LookUpRunner::FromJournal(const Sources& sources,
                                                        const LookUpItem& item,
                                                        PlatformIndex platform,
                                                        const PackageRecord& record) {
  const PlatformsPtr platforms = sources.platforms();
  const project::Platform& asked_for = (*platforms)[platform];
  const auto found = record.platforms.find(asked_for.name);
  if (found == record.platforms.end()) return std::nullopt;
  const PlatformRecord& old = found->second;
  if (!IsReadable(old)) return std::nullopt;
  JournalAnswer known =
      AskJournal(old, {.package = item.name,
                       .platform = platform,
                       .platform_name = asked_for.name,
                       .recipe = (*item.recipes)[platform].digest,
                       .generated_source = item.generated_source,
                       .value_of = [&](const record::Observation& what, std::string* needed) {
                         return ValueOf(sources, what,
                                        {.package = item.name,
                                         .platform = asked_for,
                                         .cooked = CookedFor(item.cooked, platform)},
                                        needed);
                       }});
  LookedUp::Item answer{.package = item.package,
                        .platform = platform,
                        .generation = item.generation,
                        .outcome = LookedUp::Miss{}};
  if (auto* needs = std::get_if<LookedUp::NeedsCooked>(&known)) {
    answer.outcome = std::move(*needs);
    return answer;
  }
  auto* stored = std::get_if<std::shared_ptr<StoredResult>>(&known);
  if (stored == nullptr || ((*stored)->result.is_verdict && IsRetried((*stored)->action_key)) ||
      deps_.results->WasDisputed((*stored)->action_key))
    return std::nullopt;
  (*stored)->has_failed_before = record.failures.contains(asked_for.name);
  const bool is_up_to_date = (*stored)->is_published;
  std::vector<std::string> read = PackagesRead(sources, item.name, (*stored)->observed);
  answer.outcome =
      LookedUp::Hit{deps_.results->Add(std::move(*stored)), is_up_to_date, std::move(read)};
  return answer;
}

// Says why no worker could cook the package from its source, judged by the size alone, without
// reading the source. Empty: a worker could.
std::string LookUpRunner::TooLarge(const Sources& sources, const LookUpItem& item,
                                   PlatformIndex platform) const {
  const project::ResolvedRecipe& recipe = (*item.recipes)[platform];
  const uint64_t size_bytes =
      item.generated_source ? item.generated_source->size_bytes() : sources.SizeOf(item.name);
  if (recipe.source_bytes_max > 0 && size_bytes > recipe.source_bytes_max) {
    return fmt::format(
        "{} has {} bytes; the cooker `{}` takes at most {} (a rule with another cooker, such as "
        "`copy`, takes larger files)",
        item.name, size_bytes, recipe.recipe.cooker, recipe.source_bytes_max);
  }
  const uint64_t memory_bytes =
      recipe.needs.memory_bytes > 0 ? recipe.needs.memory_bytes : options_.memory_bytes_default;
  if (!recipe.holds_source || memory_bytes == 0 || size_bytes <= memory_bytes) return "";
  return fmt::format(
      "{} has {} bytes, more than the job's memory limit of {}, and its cooker `{}` holds all of "
      "it (a rule's memory sets the limit)",
      item.name, size_bytes, memory_bytes, recipe.recipe.cooker);
}

LookedUp LookUpRunner::Run(const std::vector<LookUpItem>& items, const SourcesPtr& sources) {
  const PlatformsPtr platforms = sources->platforms();
  LookedUp answer;
  std::vector<Question> questions;
  for (const LookUpItem& item : items) {
    std::optional<PackageRecord> record;
    if (auto found = deps_.journal->Find(item.name); found.ok()) record = std::move(*found);
    std::optional<absl::StatusOr<Digest>> source;
    for (PlatformIndex platform = 0; platform < project::kPlatformsMax; ++platform) {
      if ((item.platforms & MaskOf(platform)) == 0) continue;
      if (item.recipes == nullptr || platform >= platforms->size()) {
        answer.items.push_back(
            {item.package, platform, item.generation,
             LookedUp::Error{item.recipes == nullptr ? "it is no package any more"
                                                     : "the platform is none any more"}});
        continue;
      }
      if (record) {
        if (auto hit = FromJournal(*sources, item, platform, *record)) {
          answer.items.push_back(std::move(*hit));
          continue;
        }
      }
      const PlatformRecord* known = RecordOf(record, (*platforms)[platform].name);
      const LookedUp::Miss miss = MissOf(item.name, known);
      if (known != nullptr && deps_.reads != nullptr)
        deps_.reads->Put(item.name, (*platforms)[platform].name, known->observed);
      if (std::string why = TooLarge(*sources, item, platform); !why.empty()) {
        answer.items.push_back(
            {item.package, platform, item.generation, LookedUp::TooLarge{std::move(why)}});
        continue;
      }
      if (!source) source = SourceOf(*sources, item);
      if (!source->ok()) {
        // The load will find that the source changed meanwhile, and will ask for a new snapshot.
        if (absl::IsAborted(source->status())) {
          answer.items.push_back({item.package, platform, item.generation, miss});
        } else {
          answer.items.push_back({item.package, platform, item.generation,
                                  LookedUp::Error{MessageOf(source->status())}});
        }
        continue;
      }
      for (Question& question : QuestionsOf(item, platform, **source)) {
        question.published_key = PublishedKey(known);
        question.has_failed_before =
            record && record->failures.contains((*platforms)[platform].name);
        question.is_known = known != nullptr;
        question.miss = miss;
        questions.push_back(std::move(question));
      }
    }
  }
  FromCache(*sources, questions, answer);
  return answer;
}

absl::StatusOr<Digest> SourceOf(const Sources& sources, const LookUpItem& item) {
  return item.generated_source ? absl::StatusOr<Digest>(*item.generated_source)
                               : sources.DigestOf(item.name);
}

// Makes one question for each trust domain that is read, our own domain first.
std::vector<LookUpRunner::Question> LookUpRunner::QuestionsOf(const LookUpItem& item,
                                                              PlatformIndex platform,
                                                              const Digest& source) const {
  std::vector<std::string> domains = {options_.trust_domain};
  domains.insert(domains.end(), options_.read_trust.begin(), options_.read_trust.end());
  std::vector<Question> questions;
  for (const std::string& domain : domains) {
    questions.push_back(
        Question{.item = &item,
                 .platform = platform,
                 .source = source,
                 .weak_key = record::WeakKey(source, (*item.recipes)[platform].digest, domain),
                 .trust_domain = domain});
  }
  return questions;
}

std::vector<LookUpRunner::Question> LookUpRunner::QuestionsOf(
    const Sources& sources, const std::vector<LookUpItem>& items) const {
  const PlatformsPtr platforms = sources.platforms();
  std::vector<Question> questions;
  for (const LookUpItem& item : items) {
    const absl::StatusOr<Digest> source = SourceOf(sources, item);
    if (!source.ok()) continue;  // Run has reported the error
    for (PlatformIndex platform = 0; platform < platforms->size(); ++platform) {
      if ((item.platforms & MaskOf(platform)) == 0) continue;
      for (Question& question : QuestionsOf(item, platform, *source))
        questions.push_back(std::move(question));
    }
  }
  return questions;
}

std::vector<Digest> LookUpRunner::WeakKeysOf(const std::vector<LookUpItem>& items) {
  const SourcesPtr sources = deps_.sources();
  std::vector<Digest> keys;
  for (const Question& question : QuestionsOf(*sources, items)) keys.push_back(question.weak_key);
  return keys;
}

std::vector<LookUpRunner::Wanted> LookUpRunner::WantedOf(const std::vector<LookUpItem>& items,
                                                         const MoreSets& more) {
  const SourcesPtr sources = deps_.sources();
  std::vector<Question> questions = QuestionsOf(*sources, items);
  FindCandidates(*sources, more, questions);
  std::vector<Wanted> wanted;
  for (const Question& question : questions) {
    for (const Question::Candidate& candidate : question.candidates)
      wanted.push_back({question.weak_key, candidate.set, candidate.action_key});
  }
  return wanted;
}

void LookUpRunner::Evaluate(const Sources& sources, Question& question) {
  const PlatformsPtr platforms = sources.platforms();
  std::vector<Question::Candidate> kept;
  for (Question::Candidate& candidate : question.candidates) {
    bool usable = true;
    for (record::Observed& seen : candidate.observed) {
      std::string needed;
      auto value = ValueOf(sources, seen.what,
                           {.package = question.item->name,
                            .platform = (*platforms)[question.platform],
                            .cooked = CookedFor(question.item->cooked, question.platform)},
                           &needed);
      if (!value.ok()) {
        usable = false;  // unreadable or stale: the load finds out
        break;
      }
      if (!needed.empty()) question.needs.push_back(std::move(needed));
      seen.value = std::move(*value);
    }
    if (!usable || !question.needs.empty()) continue;
    auto key = record::ActionKey({.recipe = (*question.item->recipes)[question.platform].recipe,
                                  .source = question.source,
                                  .observed = candidate.observed,
                                  .trust_domain = question.trust_domain});
    if (!key.ok()) continue;
    candidate.action_key = *key;
    kept.push_back(std::move(candidate));
  }
  question.candidates = std::move(kept);
}

void LookUpRunner::FindCandidates(const Sources& sources, const MoreSets& more,
                                  std::vector<Question>& questions) {
  std::vector<Digest> weak_keys;
  for (const Question& question : questions) weak_keys.push_back(question.weak_key);
  auto sets = deps_.store->ObservationSets(weak_keys);
  if (!sets.ok()) LogWarning("looking up observation sets: {}", MessageOf(sets.status()));
  for (size_t i = 0; i < questions.size(); ++i) {
    std::vector<std::string> seen;
    if (sets.ok()) seen = std::move((*sets)[i]);
    if (const auto others = more.find(weak_keys[i]); others != more.end()) {
      for (const std::string& set : others->second) {
        if (std::ranges::find(seen, set) == seen.end()) seen.push_back(set);
      }
    }
    for (std::string& encoded : seen) {
      auto set = record::DecodeSet(encoded);
      if (!set.ok()) continue;
      Question::Candidate candidate{.set = std::move(encoded)};
      for (record::Observation& what : *set) {
        questions[i].asks_for_name |= what.kind == record::ObservationKind::kName;
        candidate.observed.push_back({std::move(what), {}});
      }
      questions[i].candidates.push_back(std::move(candidate));
    }
    Evaluate(sources, questions[i]);
  }
}

void LookUpRunner::FromCache(const Sources& sources, std::vector<Question>& questions,
                             LookedUp& answer) {
  if (questions.empty()) return;
  FindCandidates(sources, {}, questions);
  const PlatformsPtr platforms = sources.platforms();
  std::vector<Digest> keys;
  for (const Question& question : questions) {
    for (const Question::Candidate& candidate : question.candidates)
      keys.push_back(candidate.action_key);
  }
  const auto results = deps_.store->Results(keys);
  if (!results.ok()) LogWarning("looking up results: {}", MessageOf(results.status()));
  size_t next = 0;
  // The questions of one (item, platform), one for each trust domain, lie together: the first
  // question with an answer wins.
  for (size_t i = 0; i < questions.size();) {
    const LookUpItem& item = *questions[i].item;
    const PlatformIndex platform = questions[i].platform;
    LookedUp::Item one{.package = item.package,
                       .platform = platform,
                       .generation = item.generation,
                       .outcome = questions[i].miss};
    std::vector<std::string> needs;
    std::vector<uint64_t> read;  // files of the newest set
    const std::vector<record::Observed>* likely = nullptr;
    bool answered = false;
    // The first question asks our own trust domain.
    WorkId work = WorkOf(questions[i].weak_key, (*platforms)[platform].parameters);
    for (; i < questions.size() && questions[i].item == &item && questions[i].platform == platform;
         ++i) {
      Question& question = questions[i];
      if (question.asks_for_name) work = 0;
      if (read.empty() && !question.candidates.empty()) {
        read = FilesRead(item.name, question.candidates.front().observed);
        if (deps_.reads != nullptr && !question.is_known)
          likely = &question.candidates.front().observed;
      }
      needs.insert(needs.end(), question.needs.begin(), question.needs.end());
      const Question::Candidate* chosen = nullptr;
      bool alarm = false;
      for (Question::Candidate& candidate : question.candidates) {
        const size_t index = next++;
        if (!results.ok() || !(*results)[index]) continue;
        auto decoded = record::DecodeResult(*(*results)[index]);
        if (!decoded.ok() || (decoded->is_verdict && IsRetried(candidate.action_key))) continue;
        // A dispute in another domain concerns only that domain.
        if (decoded->is_disputed && question.trust_domain != options_.trust_domain) continue;
        candidate.result = std::move(*decoded);
        candidate.encoded = *(*results)[index];
        if (chosen == nullptr) {
          chosen = &candidate;
        } else if (chosen->action_key != candidate.action_key &&
                   !record::SameOutcome(*chosen->result, *candidate.result)) {
          alarm = true;
        }
      }
      if (alarm) {
        deps_.alarm(
            fmt::format("{}: two cached results with different outputs answer for one state of its "
                        "inputs; neither is used",
                        item.name));
        continue;
      }
      if (chosen == nullptr || answered || !question.needs.empty()) continue;
      answered = true;
      const project::ResolvedRecipe& recipe = (*item.recipes)[platform];
      auto stored = std::make_shared<StoredResult>();
      stored->package = item.name;
      stored->platform = platform;
      stored->platform_name = (*platforms)[platform].name;
      stored->result = *chosen->result;
      stored->encoded = chosen->encoded;
      stored->recipe_bytes = record::EncodeRecipe(recipe.recipe);
      stored->recipe = recipe.digest;
      stored->source = question.source;
      stored->weak_key = question.weak_key;
      stored->action_key = chosen->action_key;
      stored->observed = chosen->observed;
      stored->has_failed_before = question.has_failed_before;
      stored->last_cook.source = "cached";
      stored->last_cook.worker = chosen->result->provenance.worker;
      const bool is_up_to_date = question.published_key == chosen->action_key;
      std::vector<std::string> packages = PackagesRead(sources, item.name, stored->observed);
      one.outcome =
          LookedUp::Hit{deps_.results->Add(std::move(stored)), is_up_to_date, std::move(packages)};
    }
    if (!answered && !needs.empty()) {
      SortUnique(needs);
      one.outcome = LookedUp::NeedsCooked{std::move(needs)};
    }
    // The newest set names the files read when this project's journal does not know the package.
    if (auto* miss = std::get_if<LookedUp::Miss>(&one.outcome)) {
      if (miss->last_read.empty()) miss->last_read = std::move(read);
      miss->work = work;
      if (likely != nullptr) deps_.reads->Put(item.name, (*platforms)[platform].name, *likely);
    }
    answer.items.push_back(std::move(one));
  }
}

}  // namespace galley::director
