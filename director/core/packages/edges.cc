#include "director/core/packages/edges.h"

#include <algorithm>

#include "common/base/sabotage.h"
#include "common/base/status_macros.h"

namespace galley::director {

void Edges::Grow(size_t count) {
  GALLEY_CHECK(count <= kPackagesMax);
  if (count <= nodes_.size()) return;
  if (count > nodes_.capacity()) nodes_.reserve(count + count / 8);  // twice as many is too much
  nodes_.resize(count);
  roots_.resize(count);
  followed_.resize(count);
}

void Edges::Clear() { *this = Edges(); }

void Edges::AddBackward(PackageId package, uint32_t word) {
  backward_.PushBack(nodes_[package.index()].backward, word);
  ++size_;
}

bool Edges::AddRoot(PackageId package, InstigatorCategory category) {
  const uint16_t bit = RootBit(category);
  uint16_t& roots = roots_[package.index()];
  if ((roots & bit) != 0) return false;
  roots = static_cast<uint16_t>(roots | bit);
  const uint32_t word = KeyOf(kPackagesMax, category);
  const std::span<const uint32_t> known = To(package);
  if (std::ranges::find(known, word) == known.end()) AddBackward(package, word);
  return true;
}

Edges::Added Edges::Add(PackageId from, const Target& to, bool binds_ranks) {
  ListPool::List& list = nodes_[from.index()].forward;
  const std::span<uint32_t> words = forward_.Words(list);
  const uint32_t key = KeyOf(to.first.value(), to.second);
  const uint32_t binds = binds_ranks ? kBinds : 0;
  const auto at = std::lower_bound(words.begin(), words.end(), key,
                                   [](uint32_t word, uint32_t k) { return KeyIn(word) < k; });
  if (at != words.end() && KeyIn(*at) == key) {
    if (!binds_ranks || BindsRanks(*at)) return {};
    *at |= kBinds;
    const std::span<uint32_t> back = backward_.Words(nodes_[to.first.index()].backward);
    *std::ranges::find(back, KeyOf(from.value(), to.second)) |= kBinds;
    return {.is_new = false, .binds_now = true};
  }
  const std::ptrdiff_t place = at - words.begin();
  if (const auto mixed = mixed_.find(from); mixed != mixed_.end())
    mixed->second.insert(mixed->second.begin() + place, 0);
  forward_.PushBack(list, key | binds);
  const std::span<uint32_t> grown = forward_.Words(list);
  std::rotate(grown.begin() + place, grown.end() - 1, grown.end());
  AddBackward(to.first, KeyOf(from.value(), to.second) | binds);
  return {.is_new = true, .binds_now = binds_ranks};
}

void Edges::Follow(PackageId from, PlatformIndex platform, std::vector<Target> targets,
                   std::vector<PackageId>& found) {
  const PlatformMask bit = MaskOf(platform);
  const PlatformMask before = followed_[from.index()];
  const PlatformMask after = before | bit;
  keys_.clear();
  for (const Target& target : targets) keys_.push_back(KeyOf(target.first.value(), target.second));
  std::ranges::sort(keys_);
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());

  ListPool::List& list = nodes_[from.index()].forward;
  const std::span<const uint32_t> old = forward_.Words(list);
  const auto mixed = mixed_.find(from);
  words_.clear();
  masks_.clear();
  bool is_mixed = false;
  const auto add = [&](uint32_t word, PlatformMask mask) {
    words_.push_back(mask == 0 ? word & ~kHolds : word | kHolds);
    masks_.push_back(mask);
    is_mixed |= mask != 0 && mask != after;
  };
  size_t i = 0;
  const auto keep_old = [&](PlatformMask with) {
    const PlatformMask holds = (old[i] & kHolds) == 0  ? 0
                               : mixed == mixed_.end() ? before
                                                       : mixed->second[i];
    add(old[i++] | (with == 0 ? 0 : kBinds), (holds & ~bit) | with);
  };
  for (const uint32_t key : keys_) {
    while (i < old.size() && KeyIn(old[i]) < key) keep_old(0);
    if (i < old.size() && KeyIn(old[i]) == key) {
      keep_old(bit);
      continue;
    }
    add(key | kBinds, bit);
    found.push_back(End(key));
    AddBackward(End(key), KeyOf(from.value(), Category(key)) | kBinds);
  }
  while (i < old.size()) keep_old(0);
  forward_.Assign(list, words_);
  followed_[from.index()] = after;
  if (is_mixed) {
    mixed_[from] = masks_;
  } else if (mixed != mixed_.end()) {
    mixed_.erase(from);
  }
}

void Edges::FollowAlike(PackageId from, PlatformIndex platform, PlatformIndex like) {
  followed_[from.index()] |= MaskOf(platform);
  const auto mixed = mixed_.find(from);
  if (mixed == mixed_.end()) return;
  for (PlatformMask& mask : mixed->second) {
    mask &= ~MaskOf(platform);
    mask |= (mask & MaskOf(like)) != 0 ? MaskOf(platform) : 0;
  }
  MarkWhatHolds(from);
}

void Edges::Remap(PackageId from, const PlatformMap& map) {
  followed_[from.index()] = map.Mask(followed_[from.index()]);
  const auto mixed = mixed_.find(from);
  if (mixed == mixed_.end()) return;
  for (PlatformMask& mask : mixed->second) mask = map.Mask(mask);
  MarkWhatHolds(from);
}

void Edges::MarkWhatHolds(PackageId from) {
  const std::span<uint32_t> words = forward_.Words(nodes_[from.index()].forward);
  const auto mixed = mixed_.find(from);
  bool is_mixed = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const PlatformMask mask = mixed->second[i];
    words[i] = mask == 0 ? words[i] & ~kHolds : words[i] | kHolds;
    is_mixed |= mask != 0 && mask != followed_[from.index()];
  }
  if (!is_mixed) mixed_.erase(mixed);
}

void Edges::Unfollow(PackageId from) {
  followed_[from.index()] = 0;
  mixed_.erase(from);
  variants_.erase(from);
  for (uint32_t& word : forward_.Words(nodes_[from.index()].forward)) word &= ~kHolds;
}

void Edges::ForgetUnless(const std::vector<bool>& is_kept) {
  ListPool forward, backward;
  size_ = 0;
  mixed_ = {};
  variants_ = {};
  const auto is_edge_kept = [&](uint32_t word) {
    const uint32_t end = word >> kIdShift;
    return end == kPackagesMax || is_kept[end];
  };
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Node node;
    followed_[i] = 0;
    if (is_kept[i]) {
      words_.clear();
      for (const uint32_t word : std::as_const(forward_).Words(nodes_[i].forward)) {
        if (is_edge_kept(word)) words_.push_back(word & ~kHolds);
      }
      forward.Assign(node.forward, words_);
      words_.clear();
      for (const uint32_t word : std::as_const(backward_).Words(nodes_[i].backward)) {
        if (is_edge_kept(word)) words_.push_back(word);
      }
      backward.Assign(node.backward, words_);
      size_ += words_.size();
    } else {
      roots_[i] = 0;
    }
    nodes_[i] = node;
  }
  forward_ = std::move(forward);
  backward_ = std::move(backward);
}

void Edges::SetVariants(PackageId from, std::vector<Variant> variants) {
  if (variants.empty()) {
    variants_.erase(from);
  } else {
    variants_[from] = std::move(variants);
  }
}

void Edges::TakeAlike(PackageId from, CookMask cooks, CookMask like) {
  const auto found = variants_.find(from);
  if (found == variants_.end()) return;
  for (Variant& variant : found->second) {
    if ((variant.cooks & like) != 0) variant.cooks |= cooks;
  }
}

void Edges::DropTakers(PackageId from, CookMask cooks) {
  if (variants_.empty()) return;
  const auto found = variants_.find(from);
  if (found == variants_.end()) return;
  for (Variant& variant : found->second) variant.cooks &= ~cooks;
}

CookMask Edges::TakersOf(PackageId from, PackageId variant) const {
  if (IsSabotaged(Sabotage::kTakeAnyVariant)) return ~CookMask{0};
  const auto found = variants_.find(from);
  if (found == variants_.end()) return 0;
  const auto at = std::ranges::find(found->second, variant, &Variant::target);
  return at == found->second.end() ? 0 : at->cooks;
}

size_t Edges::bytes() const {
  size_t bytes = forward_.bytes() + backward_.bytes() + nodes_.capacity() * sizeof(Node);
  for (const auto& [package, masks] : mixed_) bytes += masks.capacity() * sizeof(PlatformMask) + 40;
  for (const auto& [package, variants] : variants_)
    bytes += variants.capacity() * sizeof(Variant) + 40;
  return bytes;
}

}  // namespace galley::director
