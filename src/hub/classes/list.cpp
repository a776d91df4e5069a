#include "hub/transformers/hub_class.h"

namespace blockzoo {

const HubClass& llama_class();
const HubClass& mistral_class();
const HubClass& qwen2_class();
const HubClass& qwen3_class();
const HubClass& gemma_class();
const HubClass& gemma2_class();
const HubClass& gemma3_class();
const HubClass& gemma4_class();
const HubClass& olmo_class();
const HubClass& olmo2_class();
const HubClass& olmo3_class();
const HubClass& phi3_class();
const HubClass& gpt2_class();
const HubClass& gpt_neox_class();
const HubClass& gptj_class();
const HubClass& opt_class();
const HubClass& bloom_class();
const HubClass& mpt_class();
const HubClass& falcon_class();
const HubClass& stablelm_class();
const HubClass& cohere_class();
const HubClass& cohere2_class();
const HubClass& nemotron_class();
const HubClass& smollm3_class();
const HubClass& starcoder2_class();
const HubClass& granite_class();
const HubClass& phi_class();
const HubClass& deepseek2_class();
const HubClass& deepseek3_class();
const HubClass& blockzoo_class();

const std::vector<const HubClass*>& hub_classes() {
  static const std::vector<const HubClass*> classes{
      &llama_class(),   &mistral_class(), &qwen2_class(),     &qwen3_class(),     &gemma_class(),
      &gemma2_class(),  &gemma3_class(),  &gemma4_class(),    &olmo_class(),      &olmo2_class(),
      &olmo3_class(),   &phi3_class(),    &gpt2_class(),      &gpt_neox_class(),  &gptj_class(),
      &opt_class(),     &bloom_class(),   &mpt_class(),       &falcon_class(),    &stablelm_class(),
      &cohere_class(),  &cohere2_class(), &nemotron_class(),  &smollm3_class(),   &starcoder2_class(),
      &granite_class(), &phi_class(),     &deepseek2_class(), &deepseek3_class(), &blockzoo_class()};
  return classes;
}

}  // namespace blockzoo
