-- Drives the language server as a person would, and writes what Neovim shows. Works with Neovim 0.7 and later.

local result = {}
local client = vim.lsp.start_client({
  name = 'karpwarden',
  cmd = { os.getenv('KARPWARDEN'), 'lsp' },
  root_dir = vim.fn.getcwd(),
  init_options = { rulePages = 'karpwarden-rule' },
})

-- The pages of rules, as docs/editors.md sets them up.
vim.api.nvim_create_autocmd('BufReadCmd', {
  pattern = 'karpwarden-rule:*',
  callback = function(event)
    local rule = event.match:match('karpwarden%-rule:(.*)%.md$')
    vim.api.nvim_buf_set_lines(event.buf, 0, -1, false, vim.fn.systemlist({ os.getenv('KARPWARDEN'), 'explain', rule }))
    vim.bo[event.buf].filetype, vim.bo[event.buf].buftype, vim.bo[event.buf].modifiable = 'markdown', 'nofile', false
  end,
})

local function open(name)
  vim.cmd('edit ' .. name)
  local buffer = vim.api.nvim_get_current_buf()
  vim.lsp.buf_attach_client(buffer, client)
  return buffer
end

local function codes(buffer)
  local all = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(all, diagnostic.code or (diagnostic.user_data and diagnostic.user_data.lsp.code))
  end
  return all
end

-- Asks about a place of a buffer.
local function ask(buffer, method, line, character, further)
  local place = { line = line, character = character }
  local document = { uri = vim.uri_from_bufnr(buffer) }
  local params = vim.tbl_extend('error', { textDocument = document }, further or { position = place })
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 20000)
  for _, answer in pairs(answers or {}) do
    return answer.result
  end
end

local function run()
  local class = open('class.yaml')
  vim.wait(20000, function() return #vim.diagnostic.get(class) > 0 end, 10)
  result.diagnostics = codes(class)
  result.hover = ask(class, 'textDocument/hover', 5, 25).contents.value

  -- A new line after `spec:`, sent as a change in part.
  vim.api.nvim_buf_set_lines(class, 5, 5, false, { '  ' })
  result.completion = {}
  for _, item in ipairs(ask(class, 'textDocument/completion', 5, 2).items) do
    table.insert(result.completion, item.label)
  end
  vim.api.nvim_buf_set_lines(class, 5, 6, false, {})

  local place = { line = 5, character = 25 }
  local context = { diagnostics = {}, only = { 'quickfix' } }
  local range = { start = place, ['end'] = place }
  local actions = ask(class, 'textDocument/codeAction', 5, 25, { range = range, context = context })
  for _, action in ipairs(actions) do
    if action.isPreferred then
      vim.lsp.util.apply_workspace_edit(action.edit, 'utf-16')
    end
  end
  result.fixed = vim.api.nvim_buf_get_lines(class, 5, 6, false)[1]
  vim.wait(20000, function() return #vim.diagnostic.get(class) == 0 end, 10)
  result.left = codes(class)

  local pool = open('pool.yaml')
  local location = ask(pool, 'textDocument/definition', 6, 75)[1]
  vim.lsp.util.jump_to_location(location, 'utf-16')
  result.definition = vim.api.nvim_buf_get_name(0) .. ':' .. (vim.api.nvim_win_get_cursor(0)[1] - 1)

  local settings = open('karpwarden.yaml')
  vim.lsp.util.jump_to_location(ask(settings, 'textDocument/definition', 1, 12)[1], 'utf-16')
  result.page = vim.api.nvim_buf_get_lines(0, 0, 1, false)[1]
end

local ok, problem = pcall(run)
if not ok then
  result.problem = tostring(problem)
end
vim.fn.writefile({ vim.fn.json_encode(result) }, os.getenv('RESULT'))
vim.lsp.stop_client(client)
vim.cmd('qall!')
