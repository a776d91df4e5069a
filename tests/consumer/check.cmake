# Installs the build in BUILD_DIR to a scratch prefix and builds and runs the project beside this file with it.
set(scratch "${BUILD_DIR}/consumer")
file(REMOVE_RECURSE "${scratch}")

function(step)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

step(${CMAKE_COMMAND} --install "${BUILD_DIR}" --prefix "${scratch}/prefix")
step(${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}" -B "${scratch}/build" -G "${GENERATOR}"
     "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_BUILD_TYPE=Release" "-DCMAKE_PREFIX_PATH=${scratch}/prefix")
step(${CMAKE_COMMAND} --build "${scratch}/build")
# The second line needs the module that reads SentencePiece models; the installed program finds it wherever both lie.
set(model "${CMAKE_CURRENT_LIST_DIR}/../golden/text/sentencepiece_llama.model")
execute_process(COMMAND "${scratch}/build/consumer" "${model}" WORKING_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}"
                OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
message("${said}")
if(NOT said MATCHES "^logits \\[1, 8, [0-9]+\\]")
  message(FATAL_ERROR "the consumer did not print the shape of its logits")
endif()
if(NOT said MATCHES "\nids [1-9]")
  message(FATAL_ERROR "the consumer did not encode with a SentencePiece model")
endif()
file(RENAME "${scratch}/prefix" "${scratch}/moved")
step("${scratch}/moved/bin/blockzoo" tokenizer show --tokenizer "${model}" "To be")
